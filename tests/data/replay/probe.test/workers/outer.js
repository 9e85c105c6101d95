const inner = new Worker("inner.js");
inner.onmessage = event => postMessage(event.data);
onmessage = event => inner.postMessage(event.data);
