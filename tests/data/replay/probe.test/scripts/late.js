window.late_script = document.currentScript.src;
