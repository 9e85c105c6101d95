export const name = "far";
