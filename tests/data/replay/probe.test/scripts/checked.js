window.checked = window.location.href;
