import {name} from "./deeper/named.js";
onconnect = async ({ports: [port]}) => port.postMessage([name, location.href, await (await fetch("words.txt")).text()]);
