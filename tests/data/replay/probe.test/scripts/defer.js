window.deferred = document.readyState;
