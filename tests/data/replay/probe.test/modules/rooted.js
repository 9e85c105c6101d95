export const name = "rooted";
