export const name = "deeper";
