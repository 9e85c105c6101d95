export const name = "absolute";
