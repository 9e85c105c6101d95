// What archived workers see of where they are; it runs right behind the program that rewrites in them.
(() => {
  const Theirs = self.WBWombat;
  self.WBWombat = function (info) {
    const real = self.location, page = new URL(info.originalURL), isBlob = real.protocol === "blob:";
    const here = isBlob ? new URL(real.href.replace(real.origin, page.origin)) : page, seen = Object.create(WorkerLocation.prototype);
    for (const name of ["href", "origin", "protocol", "host", "hostname", "port", "pathname", "search", "hash"]) {
      Object.defineProperty(seen, name, {value: here[name], enumerable: true});
    }
    Object.defineProperty(seen, "toString", {value: () => here.href});
    const made = new Theirs(info);
    if (real.protocol === "data:") return made;
    self._WB_wombat_location = seen;
    Object.defineProperty(self, "location", {get: () => seen, configurable: true, enumerable: true});
    Object.defineProperty(self, "origin", {get: () => page.origin, configurable: true, enumerable: true});
    return made;
  };
})();
