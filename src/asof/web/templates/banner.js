// The banner stays folded, or not, from page to page.
const frame = document.querySelector("iframe"), banner = document.querySelector("details");
try {
  banner.open = sessionStorage.getItem("folded") === null;
  banner.addEventListener("toggle", () => {
    banner.open ? sessionStorage.removeItem("folded") : sessionStorage.setItem("folded", "");
  });
} catch {}
