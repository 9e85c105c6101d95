import { name as relative } from "./relative.js";
import { name as rooted } from "/modules/rooted.js";
export * from "./bare.js";

const { name: later } = await import("./later.js");
const chained = `chain ${relative} ${rooted} ${later}`;
export { chained as name };
