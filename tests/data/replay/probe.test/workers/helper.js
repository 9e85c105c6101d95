importScripts("http://probe.test/workers/deeper/deeper.js");
self.helped = `helper and ${self.deeper}`;
