importScripts("helper.js", "/workers/deeper/none.js");
onmessage = async () => {
  const request = new XMLHttpRequest();
  request.open("GET", "words.txt", false);
  request.send();
  postMessage({
    here: "classic",
    href: self.location.href,
    origin: location.origin,
    imported: self.helped,
    fetched: await (await fetch("words.txt")).text(),
    asked: request.responseText,
  });
};
