export const name = "later3";
