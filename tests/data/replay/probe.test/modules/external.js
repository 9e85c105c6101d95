import { name } from "./relative.js";

window.from_file = `external ${name}`;
