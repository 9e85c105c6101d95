order.push("file");
document.write("<img id=by-file src=img/6x4.png><scr" + "ipt>order.push(\"written by file\")</scr" + "ipt>");
