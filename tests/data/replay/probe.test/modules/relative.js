export const name = "relative";
