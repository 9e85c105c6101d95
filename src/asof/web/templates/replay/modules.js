// What is done to modules behind the program, which takes them for scripts with other words before.

// A module should know where it was, and where what it names is: what the browser says is led back.
const told = where => `import.meta.url=${where};(real=>import.meta.resolve=url=>/^\\/(?!\\/)/.test(url)?new URL(url,import.meta.url).href`
  + `:real(url).replace(/^https?:\\/\\/[^/]+\\/w\\/[^/]+\\/(?::\\d+\\/)?\\d*[a-z]+_\\/(?=https?:)/,""))(import.meta.resolve);`;

// The names that a module declares at its top, as far as that is seen without a parser: none where it is not.
const SKIPPED = [/\/\/.*/, /\/\*[^]*?\*\//, /"(?:[^"\\\n]|\\[^])*"/, /'(?:[^'\\\n]|\\[^])*'/, /`(?:[^`\\]|\\[^])*`/,
  /(?<=(?:[=(,:;!&|?{}[\n]|\b(?:return|typeof|case))[ \t]?)\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//];
const TOKEN = new RegExp([...SKIPPED, /([({[])/, /([)\]}])/, /(?<!\.)([\w$]+)/, /([;,=])/].map(each => each.source).join("|"), "g");
const bound = list => list.split(",").map(each => /([\w$]+)\s*(?:=[^]*)?$/.exec(each.trim())?.[1]);
function ownNames(text) {
  const own = new Set(), add = names => names.forEach(each => own.add(each));
  let depth = 0, isNext = false, isList = false;
  for (const {1: opens, 2: closes, 3: word, 4: mark, index} of text.matchAll(TOKEN)) {
    if (opens) {
      const [, names] = depth === 0 && isNext && /^[{[]([^()[\]{}]*)[\]}]/.exec(text.slice(index, index + 2000)) || [];
      if (names) add(bound(names));
      depth += 1;
      isNext = false;
    } else if (closes) depth -= 1;
    if (depth < 0) return new Set();
    if (depth > 0 || opens || closes) continue;
    if (/^(const|let|var|class|function)$/.test(word)) {
      isNext = true;
      isList = word.length < 6 && word !== "class";
    } else if (word === "import") {
      const [, clause] = /^import\b([^"'();]*?)\bfrom\b/.exec(text.slice(index, index + 20000)) ?? [];
      if (clause) add(bound(clause.replace(/[{}]/g, ",")));
      isNext = isList = false;
    } else if (word) {
      if (isNext) own.add(word);
      isNext = false;
    } else if (mark) {
      isNext = isList && mark === ",";
      isList &&= mark !== ";";
    }
  }
  return depth === 0 ? own : new Set();
}

// The program declares names at the top of a module that this may declare itself: those are its own. In a
// worker it needs none of them.
const DECLARED = /import \{ ([\w, ]+) \} (from "[^"]*__wb_module_decl\.js";\n)/;
function apart(text, isWorker) {
  return text.replace(DECLARED, (whole, names, from, at) => {
    const own = isWorker || ownNames(text.slice(at + whole.length));
    return isWorker ? "" : `import { ${names.split(", ").filter(name => !own.has(name)).join(", ")} } ${from}`;
  });
}

const INLINE = new RegExp(`${DECLARED.source}[^]*?(?=</script)`, "gi");
const allApart = bytes => unsigned(signs(bytes).replace(INLINE, text => apart(text)));
