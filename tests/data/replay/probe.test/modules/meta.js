export const url = import.meta.url;
export const resolved = new URL("x.png", import.meta.url).href;
export const where = location.href;
