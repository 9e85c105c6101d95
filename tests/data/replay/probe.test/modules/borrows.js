import {location as top} from "./named.js";
const inner = () => { const document = 1; return document; };
inner();
export default [top, location.href];
