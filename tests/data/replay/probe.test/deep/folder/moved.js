window.moved_script = document.currentScript.src;
