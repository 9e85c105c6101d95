export const name = "later";
