onmessage = event => postMessage(`inner said ${event.data}`);
