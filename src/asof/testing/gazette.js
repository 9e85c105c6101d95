"use strict";
// How long a story takes to read: something that only appears where scripts are replayed, too.
const text = document.querySelector(".story .text");
const byline = document.querySelector(".story .byline");
if (text && byline) {
  const minutes = Math.max(1, Math.round(text.textContent.trim().split(/\s+/).length / 220));
  byline.append(` · ${minutes} minute${minutes === 1 ? "" : "s"} to read`);
}
