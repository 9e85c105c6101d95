// A site as of the moment that the slider names: rows, shares and counts, without asking the server.
(() => {
  const known = JSON.parse(document.getElementById("known").textContent);
  const [slider, hand, map, said] = ["moment", "hand", "map", "said"].map(id => document.getElementById(id));
  const kinds = Object.values(known.kinds), held = new Set(known.held);
  const place = Object.fromEntries(kinds.map(([kind], n) => [kind, n]));
  const told = number => number.toLocaleString("en-US");
  // What is known at each step, of all addresses that share a pattern: `NP4O1c`, steps in base 36.
  const patterns = known.patterns.map(pattern => {
    const all = new Uint8Array(known.steps + 1);
    let step = 0;
    for (const [, letter, further] of pattern.matchAll(/([A-Z])([0-9a-z]*)/g)) {
      step += parseInt(further || "0", 36);
      all.fill(place[known.kinds[letter][0]], step);
    }
    return all;
  });
  const second = step => known.start + Math.floor((known.end - known.start) * step / known.steps);
  const at = (index, step) => patterns[known.of[index]][step];

  function countsOf(first, count, step) {
    const counts = new Array(kinds.length).fill(0);
    for (let index = first; index < first + count; index++) counts[at(index, step)]++;
    return counts;
  }
  const heldOf = counts => counts.reduce((sum, count, n) => sum + (held.has(kinds[n][0]) ? count : 0), 0);
  const thereOf = counts => heldOf(counts) + counts[place.possible];

  function colourFolder(row, step) {
    const counts = countsOf(+row.dataset.first, +row.dataset.count, step);
    const own = row.querySelector("details") ? "details > summary " : "";
    let x = 0;
    row.querySelector(`:scope > ${own}.share`).replaceChildren(...counts.flatMap((width, n) => {
      if (!width) return [];
      const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
      for (const [name, value] of Object.entries({class: `is-${kinds[n][0]}`, x, width, height: 1})) bar.setAttribute(name, value);
      x += width;
      return [bar];
    }));
    row.querySelector(`:scope > ${own}.count`).textContent = `${told(thereOf(counts))} of ${told(+row.dataset.count)} there`;
  }
  function colour(row, step) {
    const [kind, label] = kinds[at(+row.dataset.first, step)];
    if (row.className === `is-${kind}`) return;
    row.className = `is-${kind}`;
    row.querySelector(".what").textContent = label;
  }

  // Links lead on to the moment that is shown: its stamp is the first of a page's address, the last
  // of another part of the site.
  const lead = map.dataset.lead.length;
  function leadTo(stamp) {
    for (const link of document.querySelectorAll("main a:not([data-step])")) {
      const href = link.getAttribute("href");
      const replayed = href.slice(0, lead) + stamp + href.slice(lead + 14);
      const onward = href.replace(/(&at=)\d{14}$/, `$1${stamp}`);
      link.setAttribute("href", link.className === "name" ? replayed : onward);
    }
  }

  let pause;
  function show(step) {
    const date = new Date(second(step) * 1000), iso = date.toISOString();
    const [, day, month, year, clock] = date.toUTCString().split(" ");
    const when = `${+day} ${month} ${year}, ${clock}`;
    for (const row of map.querySelectorAll("li")) (row.dataset.count ? colourFolder : colour)(row, step);
    const counts = countsOf(0, known.of.length, step);
    kinds.forEach(([kind], n) => {
      document.querySelector(`[data-standing="${kind}"] .n`).textContent = told(counts[n]);
    });
    const moment = document.getElementById("when");
    moment.textContent = when;
    moment.dateTime = iso;
    document.getElementById("held").textContent = told(heldOf(counts));
    document.getElementById("possibly").textContent = told(counts[place.possible]);
    document.getElementById("at").value = iso.replace(".000", "");
    slider.setAttribute("aria-valuetext", when);
    for (const end of ["x1", "x2"]) hand.setAttribute(end, step);
    clearTimeout(pause);
    pause = setTimeout(() => settle(iso, when, counts), 300);
  }
  // Once the slider rests: browsers limit how often an address changes, and so do those who listen.
  function settle(iso, when, counts) {
    const stamp = iso.replace(/\D/g, "").slice(0, 14), here = new URL(location.href);
    leadTo(stamp);
    here.searchParams.set("at", stamp);
    history.replaceState(null, "", here);
    const some = kinds.flatMap(([, label], n) => counts[n] ? `${told(counts[n])} ${label}` : []);
    said.textContent = `${when}: ${some.join(", ")}`;
  }

  slider.addEventListener("input", () => show(+slider.value));
  for (const burst of document.querySelectorAll("a[data-step]")) {
    burst.addEventListener("click", event => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
      event.preventDefault();
      slider.value = burst.dataset.step;
      show(+burst.dataset.step);
    });
  }
})();
