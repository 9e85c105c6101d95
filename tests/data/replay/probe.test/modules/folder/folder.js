export const name = "folder";
