var said = [window.location.href, parent.location.href, document.baseURI];
