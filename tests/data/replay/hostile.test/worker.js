fetch("http://worker-file.leak.test/worker-file", {mode: "no-cors"}).catch(() => {});
