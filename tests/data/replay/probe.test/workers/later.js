export const later = "later";
