window.next = said[0];
