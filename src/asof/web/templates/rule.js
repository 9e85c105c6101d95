// Says what is wrong with a rule, or what it does, while it is written: in the words of the server.
(() => {
  const form = document.getElementById("rule"), told = document.getElementById("told");
  const field = document.getElementById("relation");
  let waiting, asked = 0;
  const ask = async () => {
    const mine = ++asked, query = new URLSearchParams(new FormData(form));
    const answer = await fetch(`${form.dataset.check}?${query}`).catch(() => null);
    if (mine !== asked || !answer) return;
    const said = answer.ok ? await answer.json() : {problem: "It is too long to be checked here."};
    if (mine !== asked) return;
    // What stands in columns is not broken: the caret is below what it points to.
    told.replaceChildren(...(said.problem || said.explained).split("\n").map(text => {
      const line = document.createElement("span");
      line.textContent = `${text}\n`;
      if (text.startsWith("  ")) line.className = "fixed";
      return line;
    }));
    told.hidden = false;
    told.classList.toggle("wrong", Boolean(said.problem));
    field.setAttribute("aria-invalid", Boolean(said.problem));
    // What stands below is about the rule as it was.
    for (const one of document.querySelectorAll(".checked")) one.hidden = true;
  };
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    ++asked;
    waiting = setTimeout(ask, 300);
  });
})();
