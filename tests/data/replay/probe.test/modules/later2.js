export const name = "later2";
