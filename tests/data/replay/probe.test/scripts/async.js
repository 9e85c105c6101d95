window.asynchronous = true;
