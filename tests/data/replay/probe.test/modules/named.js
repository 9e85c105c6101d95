// const self = "a comment"
const location = "mine", {a: top} = {a: "top"};
const inner = text => { const parent = text.replace(/["'{]/g, ""); return parent.length; };
export default [location, top, inner("ab{")];
export {location};
