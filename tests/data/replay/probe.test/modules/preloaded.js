export const name = "preloaded";
