// What archived workers see of where they are; it runs right behind the program that rewrites in them.
(() => {
  const Theirs = self.WBWombat;
  self.WBWombat = function (info) {
    // A module is told what it is by the first of those that it imports, of which each takes itself for the worker.
    const real = self.location, [, blob, own] = /\/\d*wkrm_\/(?:blob:([^/]*)\/)?(https?:.*)$/s.exec(real.href) ?? [];
    const page = new URL(own ?? info.originalURL), isBlob = blob || real.protocol === "blob:";
    const here = isBlob ? new URL(blob ? `blob:${page.origin}/${blob}` : real.href.replace(real.origin, page.origin)) : page, seen = Object.create(WorkerLocation.prototype);
    for (const name of ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search", "hash"]) {
      Object.defineProperty(seen, name, {value: here[name], enumerable: true});
    }
    Object.defineProperty(seen, "toString", {value: () => here.href});
    const made = new Theirs({...info, originalURL: page.href});
    if (real.protocol === "data:") return made;
    self._WB_wombat_location = seen;
    Object.defineProperty(self, "location", {get: () => seen, configurable: true, enumerable: true});
    Object.defineProperty(self, "origin", {get: () => page.origin, configurable: true, enumerable: true});
    return made;
  };
})();
