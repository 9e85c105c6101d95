postMessage("deep");
