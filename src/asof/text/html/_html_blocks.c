/* An HTML document in blocks of text: the compiled twin of text/html/tag_row.py and _Reader of
 * text/html/blocks.py (ADR 7); _markup.h finds its tags.
 *
 *   prepare(elements, words) -> None   takes the tables of text/html/parts.py.
 *   tag_row(markup, most) -> list   of tuples, as the twin has them; NULs stay.
 *   read(markup, most, block, mark, settle, attributes) -> (blocks, marks, tokens, wild)
 *       as the twin has them; None if the markup has a NUL, which stands for <br> here.
 *       block, mark: the named tuples to make; most: tokens; attributes: the most that a tag may have.
 *       settle(text, said): the text of a block that needs more than its white space put right.
 *
 * Markup is hostile. The stack of open elements grows on the heap; an end tag looks FAR elements up
 * and no further.
 */
#include "../../_markup.h"

enum { HIDDEN = 1, DOUBTFUL = 4, REMARKS = 16, LINKED = 32, KEPT = 64 };
enum { EXACTLY, BEGINNING, PAIR, ROLE };
enum { LAYOUT = 1, INLINE = 2, VOID = 4, SPEAKS = 8, ROW = 16, CELL = 32, BREAK = 64, FIELD = 128 };
enum { WHOLE = 256 };
#define FAR 64
#define SLOTS 512 /* a power of two, several times the number of elements */
#define LONGEST_NAME 16

typedef struct {
    PyObject *name; /* NULL: a free slot */
    const char *text;
    uint64_t hash;
    int says, kind, group, ends;
    char script;
} Element;

static Element table[SLOTS];
static const Element PLAIN;

#define LONGEST_WORD 20
#define MOST_WORDS 200
typedef struct {
    char text[LONGEST_WORD];
    Py_ssize_t size; /* 0: the end of a list */
    int rule, says;
} Word;

static Word words[MOST_WORDS + 1];
static const Word *beginning[26 * 26]; /* the first with these two letters; NULL: none */

typedef struct {
    uint64_t hash;
    const Element *element;
    Text name; /* as written, for an element that is not in the table */
    int outside;
} Open;

typedef struct { char *at; Py_ssize_t size, room; } Buffer;

typedef struct {
    Markup markup;
    PyTypeObject *block, *mark;
    PyObject *blocks, *marks, *settle;
    Py_ssize_t most_attributes;
    int wild;
    Buffer parts, called; /* the text of the block so far, in UTF-8, and that of the last link */
    Py_ssize_t link; /* as long as that is open: its place among the marks; or -1 */
    Py_ssize_t linked, begun, odd; /* of the block: whether there is any; whether it has references */
    Open *stack;
    Py_ssize_t depth, deepest;
    int said, around_said, row;
    PyObject *around;
} Reader;

static uint64_t hash_of(Text name) {
    uint64_t hash = 14695981039346656037ULL;
    for (Py_ssize_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)lower(name.at[i])) * 1099511628211ULL;
    return hash;
}

static const Element *element_of(Text name, uint64_t hash) {
    for (uint64_t slot = hash; name.size <= LONGEST_NAME; slot++) {
        const Element *element = &table[(slot ^ slot >> 32) % SLOTS];
        if (element->name == NULL) break;
        if (element->hash == hash && is_word(name, element->text)) return element;
    }
    return &PLAIN;
}

static PyObject *text_of(Text text) { return PyUnicode_DecodeUTF8(text.at, text.size, "replace"); }

/* How many bytes the white space at p takes, as str.isspace has it; 0: it is none. */
static int space(const unsigned char *p, const unsigned char *end) {
    if (*p < 0x80) return *p == ' ' || (*p >= 9 && *p <= 13) || (*p >= 0x1c && *p <= 0x1f);
    if (*p == 0xc2) return end - p > 1 && (p[1] == 0x85 || p[1] == 0xa0) ? 2 : 0;
    if (*p < 0xe1 || *p > 0xe3 || end - p < 3) return 0;
    if (*p == 0xe1) return p[1] == 0x9a && p[2] == 0x80 ? 3 : 0;
    if (*p == 0xe3) return p[1] == 0x80 && p[2] == 0x80 ? 3 : 0;
    if (p[1] == 0x80)
        return (p[2] >= 0x80 && p[2] <= 0x8a) || p[2] == 0xa8 || p[2] == 0xa9 || p[2] == 0xaf ? 3 : 0;
    return p[1] == 0x81 && p[2] == 0x9f ? 3 : 0;
}

static int all_space(Text text) {
    const unsigned char *p = (const unsigned char *)text.at, *end = p + text.size;
    for (int width; p < end && (width = space(p, end)) > 0;) p += width;
    return p == end;
}

static Py_ssize_t characters(Text text) {
    Py_ssize_t count = 0;
    for (Py_ssize_t i = 0; i < text.size; i++) count += (text.at[i] & 0xc0) != 0x80;
    return count;
}

/* White space put right in place: one blank between words, none around, and a line for each <br>. */
static Py_ssize_t collapse(char *text, Py_ssize_t size) {
    const unsigned char *p = (unsigned char *)text, *end = p + size;
    char *to = text, between = ' ';
    int width;
    while (p < end) {
        if (*p == 0) between = '\n', p++;
        else if ((width = space(p, end))) p += width;
        else {
            if (to > text) *to++ = between;
            between = ' ';
            while (p < end && ((*p > ' ' && *p < 0x80) || (*p && !space(p, end)))) *to++ = (char)*p++;
        }
    }
    return to - text;
}

/* The references that nearly all pages make do with; the rest of html.unescape is Python's. */
static const char *const REFERENCES[] = {
    "amp;&", "nbsp;\xc2\xa0", "quot;\"", "lt;<", "gt;>", "#39;'", "#x27;'", "#160;\xc2\xa0",
    "rsquo;\xe2\x80\x99", "lsquo;\xe2\x80\x98", "rdquo;\xe2\x80\x9d", "ldquo;\xe2\x80\x9c",
    "ndash;\xe2\x80\x93", "mdash;\xe2\x80\x94", "hellip;\xe2\x80\xa6", "#8217;\xe2\x80\x99",
    "#8220;\xe2\x80\x9c", "#8221;\xe2\x80\x9d", "#8211;\xe2\x80\x93", "copy;\xc2\xa9", NULL,
};

/* What stands for the reference at &, which takes `size` bytes; NULL: leave it to Python. */
static const char *referred(const char *p, const char *end, Py_ssize_t *size) {
    *size = 1;
    if (p + 1 == end || strchr("\t\n\f <&;", p[1])) return "&"; /* strchr finds NUL, <br>, too */
    for (const char *const *known = REFERENCES; *known; known++) {
        const char *text = strchr(*known, ';') + 1;
        *size = 1 + text - *known;
        if (end - p >= *size && !memcmp(p + 1, *known, *size - 1)) return text;
    }
    return NULL;
}

/* References resolved in place; -1: there are some that are Python's, and nothing was done. */
static Py_ssize_t resolve(char *text, Py_ssize_t size) {
    char *end = text + size, *to = text;
    Py_ssize_t read;
    for (const char *p = text; (p = memchr(p, '&', end - p)) != NULL; p += read)
        if (referred(p, end, &read) == NULL) return -1;
    for (const char *p = text, *next; p < end; p = next + read) {
        next = memchr(p, '&', end - p);
        if (next == NULL) next = end;
        memmove(to, p, next - p);
        to += next - p;
        read = 0;
        for (const char *c = next < end ? referred(next, end, &read) : ""; *c; c++) *to++ = *c;
    }
    return to - text;
}

static int add(PyObject *list, PyObject *item) {
    if (item == NULL) return -1;
    int failed = PyList_Append(list, item);
    Py_DECREF(item);
    return failed;
}

/* A named tuple, or NULL if one of its values is; the values are taken over. */
static PyObject *named(PyTypeObject *type, PyObject *const *values, Py_ssize_t count) {
    PyObject *made = type->tp_alloc(type, count);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (values[i] == NULL) Py_CLEAR(made);
        if (made) PyTuple_SET_ITEM(made, i, values[i]);
        else Py_XDECREF(values[i]);
    }
    return made;
}

static int keep(Buffer *b, Text text) {
    if (b->size + text.size > b->room && grow((void **)&b->at, &b->room, 1, b->size + text.size)) return -1;
    memcpy(b->at + b->size, text.at, text.size);
    b->size += text.size;
    return 0;
}

static int in_link(const Reader *r) { return r->link >= 0 && r->said & LINKED; }
static int call(Reader *r, Text text) { return in_link(r) ? keep(&r->called, text) : 0; }

static int end_link(Reader *r, Py_ssize_t next) {
    if (r->link >= 0 && r->called.size) {
        PyObject *mark = PyList_GET_ITEM(r->marks, r->link), *text = text_of((Text){r->called.at, r->called.size});
        if (text == NULL) return -1;
        Py_DECREF(PyTuple_GET_ITEM(mark, 2));
        PyTuple_SET_ITEM(mark, 2, text);
    }
    r->called.size = 0;
    r->link = next;
    return 0;
}

static int end_block(Reader *r) {
    char *parts = r->parts.at;
    Py_ssize_t whole = r->parts.size, size = r->around_said & KEPT ? -1 : r->odd ? resolve(parts, whole) : whole;
    PyObject *text = text_of((Text){parts, size < 0 ? whole : collapse(parts, size)});
    if (size < 0 && text != NULL) text = PyObject_CallFunction(r->settle, "Ni", text, r->around_said);
    Py_ssize_t linked = r->linked, length = text ? PyUnicode_GET_LENGTH(text) : 0;
    r->parts.size = r->linked = r->begun = r->odd = 0;
    if (length == 0) {
        Py_XDECREF(text);
        return text ? 0 : -1;
    }
    int beside = r->row == 2;
    if (beside) r->row = 1;
    PyObject *values[] = {text, PyLong_FromSsize_t(linked < length ? linked : length),
                          Py_NewRef(r->around), PyLong_FromLong(r->around_said),
                          Py_NewRef(beside ? Py_True : Py_False)};
    return add(r->blocks, named(r->block, values, 5));
}

/* The name of an element, in lower case. */
static PyObject *small(Text written, const Element *element) {
    if (element->name) return Py_NewRef(element->name);
    PyObject *bytes = PyBytes_FromStringAndSize(written.at, written.size), *name = NULL;
    if (bytes == NULL) return NULL;
    char *at = PyBytes_AS_STRING(bytes);
    for (Py_ssize_t i = 0; i < written.size; i++) at[i] = lower(at[i]);
    name = text_of((Text){at, written.size});
    Py_DECREF(bytes);
    return name;
}

static int add_text(Reader *r, Text text) {
    if (call(r, text)) return -1;
    if (r->begun) {
        int turned = (r->said ^ r->around_said) & HIDDEN;
        if (turned & r->said) return 0;
        if (turned && end_block(r)) return -1;
    }
    if (!r->begun) {
        if (!(r->said & KEPT) && all_space(text)) return 0;
        Open *inmost = r->depth ? &r->stack[r->depth - 1] : NULL;
        PyObject *name = inmost ? small(inmost->name, inmost->element) : text_of((Text){"", 0});
        if (name == NULL) return -1;
        Py_XSETREF(r->around, name);
        r->around_said = r->said;
    }
    if (memchr(text.at, '&', text.size)) r->odd = 1;
    if (r->said & LINKED) r->linked += characters(text);
    r->begun = 1;
    return keep(&r->parts, text);
}

static int push(Reader *r, Open opened, int own) {
    if (r->depth == r->deepest && grow((void **)&r->stack, &r->deepest, sizeof opened, r->depth)) return -1;
    opened.outside = r->said;
    r->stack[r->depth++] = opened;
    r->said |= own;
    return 0;
}

static int close_element(Reader *r, uint64_t hash) {
    Py_ssize_t low = r->depth > FAR ? r->depth - FAR : 0, place = r->depth;
    while (place > low && r->stack[place - 1].hash != hash) place--;
    if (place > low) r->said = r->stack[r->depth = place - 1].outside;
    return 0;
}

/* The known words that begin with the first two letters of a word. */
static const Word *like(Text word) {
    if (word.size < 2 || !letter(word.at[0]) || !letter(word.at[1])) return NULL;
    return beginning[(lower(word.at[0]) - 'a') * 26 + lower(word.at[1]) - 'a'];
}

static const Word *next_like(const Word *known) {
    return memcmp(known[0].text, known[1].text, 2) ? NULL : known + 1;
}

static int word_says(Text word, Text before) {
    int said = 0;
    for (const Word *known = like(word); known; known = next_like(known)) {
        if (known->rule > BEGINNING || known->size > word.size) continue;
        if (known->rule == EXACTLY && known->size != word.size) continue;
        if (is_word((Text){word.at, known->size}, known->text)) said |= known->says;
    }
    for (const Word *known = like(before); known; known = next_like(known))
        if (known->rule == PAIR && known->size == before.size + word.size &&
            is_word(word, known->text + before.size)) {
            Py_ssize_t i = 0;
            while (i < before.size && lower(before.at[i]) == known->text[i]) i++;
            if (i == before.size) said |= known->says;
        }
    return said;
}

static int words_say(Text value) {
    const char *p = value.at, *end = p + value.size;
    int said = 0;
    Text before = {p, 0};
    while (p < end) {
        Text word = {p, 0};
        while (p < end && letter(*p)) p++;
        word.size = p - word.at;
        if (word.size) said |= word_says(word, before), before = word;
        else p++;
    }
    return said & REMARKS ? said & ~DOUBTFUL : said;
}

/* Whether a style has `display: none`. */
static int invisible(Text style) {
    const char *at = style.at, *end = at + style.size;
    for (const char *p = at; end - p >= 12; p++) {
        if ((p > at && p[-1] != ';' && !ends(p[-1], GAP)) || !begins(p, end, "display")) continue;
        const char *q = p + 7;
        while (q < end && ends(*q, GAP)) q++;
        if (q == end || *q++ != ':') continue;
        while (q < end && ends(*q, GAP)) q++;
        if (begins(q, end, "none")) return 1;
    }
    return 0;
}

static int role_says(Text value) {
    for (const Word *known = like(value); known; known = next_like(known))
        if (known->rule == ROLE && known->size == value.size && !memcmp(known->text, value.at, value.size))
            return known->says;
    return 0;
}

/* What the attributes of the last tag say of its element. */
static int attributes_say(const Markup *m) {
    int said = 0;
    for (Py_ssize_t i = 0; i < m->count; i++) {
        Text name = m->attributes[i].name, value = m->attributes[i].value;
        switch (name.size) {
        case 2:
            if (is_word(name, "id")) said |= words_say(value);
            break;
        case 4:
            if (is_word(name, "role")) said |= role_says(value);
            break;
        case 5:
            if (is_word(name, "class")) said |= words_say(value);
            else if (is_word(name, "style") && invisible(value)) said |= HIDDEN;
            break;
        case 6:
            if (is_word(name, "hidden") && (value.size != 11 || memcmp(value.at, "until-found", 11)))
                said |= HIDDEN;
            break;
        case 8:
            if (is_word(name, "itemprop")) said |= words_say(value);
        }
    }
    return said;
}

/* Whether they hide it. */
static int hides(const Markup *m) {
    for (Py_ssize_t i = 0; i < m->count; i++) {
        Text name = m->attributes[i].name;
        if (name.size == 5 ? is_word(name, "style") : name.size == 6 && is_word(name, "hidden"))
            return attributes_say(m) & HIDDEN;
    }
    return 0;
}

static int open_element(Reader *r, Open opened) {
    const Element *element = opened.element;
    if (element->kind & VOID) return 0;
    if (r->depth && r->stack[r->depth - 1].element->group & element->ends)
        r->said = r->stack[--r->depth].outside;
    int own = 0;
    if (element->says & LINKED) own = hides(&r->markup);
    else if (!(element->kind & WHOLE)) own = attributes_say(&r->markup);
    return push(r, opened, element->says | own);
}

static int border(Reader *r, int kind, int end) {
    if (kind & INLINE) return 0;
    if (call(r, (Text){" ", 1})) return -1;
    if (r->begun) {
        if (r->said & ~r->around_said & HIDDEN) return 0;
        if (end_block(r)) return -1;
    }
    if (kind & ROW) r->row = 0;
    else if (kind & CELL && !end) r->row = r->row ? 2 : 1;
    return 0;
}

/* A tag that is no part of the layout. */
static int plain(Reader *r, Open opened, const Token *token) {
    int kind = opened.element->kind;
    if (kind & BREAK) return call(r, (Text){" ", 1}) || (r->begun && keep(&r->parts, (Text){"\0", 1})) ? -1 : 0;
    if (token->closing) return close_element(r, opened.hash);
    if (kind & FIELD) return token->raw.size == 0 || hides(&r->markup) ? 0 : add_text(r, token->raw);
    return kind & VOID || !hides(&r->markup) ? 0 : push(r, opened, HIDDEN);
}

static int speak(Reader *r, const Element *element, const Token *token) {
    Text written = token->written, raw = token->raw;
    if (element->script && !memmem(written.at, written.size, "ld+json", 7)) return 0;
    if (in_link(r) && is_word(token->name, "img")) raw = (Text){"a", 1};
    PyObject *values[] = {Py_NewRef(element->name), text_of(written), text_of(raw)};
    return add(r->marks, named(r->mark, values, 3));
}

static int tag(Reader *r, const Token *token) {
    uint64_t hash = hash_of(token->name);
    const Element *element = element_of(token->name, hash);
    Open opened = {hash, element, token->name, 0};
    int end = token->closing;
    if (token->foreign && !end && (element->script || is_word(token->name, "title")))
        return token->empty ? 0 : push(r, opened, HIDDEN);
    if (element->says & LINKED && end_link(r, end ? -1 : PyList_GET_SIZE(r->marks))) return -1;
    if (element->kind & SPEAKS && !end && speak(r, element, token)) return -1;
    if (element->kind & LAYOUT) {
        if (border(r, element->kind, end)) return -1;
        if (end) close_element(r, hash);
        else if (!token->empty && open_element(r, opened)) return -1;
    } else if (!token->empty && plain(r, opened, token)) {
        return -1;
    }
    r->wild |= r->markup.count > r->most_attributes;
    return 0;
}

/* One token; 1 at the end, -1 with an error set. */
static int step(Reader *r) {
    Token token;
    int more = next_token(&r->markup, &token);
    if (more < 0 || (token.text.size && add_text(r, token.text))) return -1;
    if (more && token.name.size && tag(r, &token)) return -1;
    return !more;
}

static PyObject *tag_row(PyObject *self, PyObject *args) {
    Markup m = {0};
    Token t;
    Py_ssize_t most, size;
    int more = 1;
    PyObject *markup, *row = PyList_New(0);
    if (row == NULL || !PyArg_ParseTuple(args, "Un", &markup, &most) ||
        (m.p = PyUnicode_AsUTF8AndSize(markup, &size)) == NULL)
        more = -1;
    m.end = m.p + (more < 0 ? 0 : size);
    while (more > 0 && PyList_GET_SIZE(row) < most) {
        if ((more = next_token(&m, &t)) < 0) break;
        const Element *element = element_of(t.name, hash_of(t.name));
        int unseen = t.foreign && !t.closing && (element->script || is_word(t.name, "title"));
        PyObject *item = Py_BuildValue(
            "(NiNNN)", text_of(t.text), t.name.size ? t.closing | t.empty << 1 | unseen << 2 : 0,
            small(t.name, element), text_of(t.written), text_of(t.raw));
        if (add(row, item)) more = -1;
    }
    PyMem_Free(m.attributes);
    if (more < 0) Py_CLEAR(row);
    return row;
}

static PyObject *read_blocks(PyObject *self, PyObject *args) {
    PyObject *markup;
    Reader r = {0};
    Py_ssize_t most, count = 0, size;
    if (!PyArg_ParseTuple(args, "UnO!O!On", &markup, &most, &PyType_Type, &r.block,
                          &PyType_Type, &r.mark, &r.settle, &r.most_attributes))
        return NULL;
    if (!PyType_IsSubtype(r.block, &PyTuple_Type) || !PyType_IsSubtype(r.mark, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "named tuples for blocks and marks");
        return NULL;
    }
    r.markup.p = PyUnicode_AsUTF8AndSize(markup, &size);
    if (r.markup.p == NULL) return NULL;
    if (memchr(r.markup.p, 0, size)) Py_RETURN_NONE;
    r.markup.end = r.markup.p + size;
    r.link = -1;
    PyObject *found = NULL;
    r.blocks = PyList_New(0);
    r.marks = PyList_New(0);
    int state = r.blocks && r.marks ? 0 : -1;
    while (state == 0 && count < most) {
        state = step(&r);
        count++;
        if (count % 4096 == 0 && PyErr_CheckSignals()) state = -1;
    }
    if (state >= 0 && !end_link(&r, -1) && !(r.begun && end_block(&r)))
        found = Py_BuildValue("OOni", r.blocks, r.marks, count, r.wild);
    Py_XDECREF(r.blocks);
    Py_XDECREF(r.marks);
    Py_XDECREF(r.around);
    PyMem_Free(r.parts.at);
    PyMem_Free(r.called.at);
    PyMem_Free(r.stack);
    PyMem_Free(r.markup.attributes);
    return found;
}

static int take_words(PyObject *sorted) {
    Py_ssize_t count = PyTuple_GET_SIZE(sorted);
    memset(beginning, 0, sizeof beginning);
    memset(words, 0, sizeof words);
    for (Py_ssize_t i = 0; i < count && i < MOST_WORDS; i++) {
        const char *text;
        Word *word = &words[i];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(sorted, i), "s#ii", &text, &word->size, &word->rule, &word->says))
            return -1;
        if (word->size < 2 || word->size >= LONGEST_WORD || !letter(text[0]) || !letter(text[1])) break;
        memcpy(word->text, text, word->size);
        int pair = (lower(text[0]) - 'a') * 26 + lower(text[1]) - 'a';
        if (beginning[pair] == NULL) beginning[pair] = word;
        if (i + 1 == count) return 0;
    }
    PyErr_SetString(PyExc_ValueError, "too many words, or one that is too long, too short, or none");
    return -1;
}

static int take_element(PyObject *name, PyObject *values) {
    Element element = {0};
    element.text = PyUnicode_AsUTF8(name);
    if (element.text == NULL || !PyArg_ParseTuple(values, "iiii", &element.says, &element.kind,
                                                  &element.group, &element.ends))
        return -1;
    element.hash = hash_of((Text){element.text, (Py_ssize_t)strlen(element.text)});
    element.script = !strcmp(element.text, "script");
    uint64_t slot = element.hash;
    while (table[(slot ^ slot >> 32) % SLOTS].name) slot++;
    element.name = Py_NewRef(name);
    table[(slot ^ slot >> 32) % SLOTS] = element;
    return 0;
}

static PyObject *prepare(PyObject *self, PyObject *args) {
    PyObject *elements, *sorted, *name, *values;
    Py_ssize_t at = 0;
    if (!PyArg_ParseTuple(args, "O!O!", &PyDict_Type, &elements, &PyTuple_Type, &sorted)) return NULL;
    if (PyDict_GET_SIZE(elements) > SLOTS / 2) {
        PyErr_SetString(PyExc_ValueError, "too many elements");
        return NULL;
    }
    for (int slot = 0; slot < SLOTS; slot++) Py_CLEAR(table[slot].name);
    while (PyDict_Next(elements, &at, &name, &values))
        if (take_element(name, values)) return NULL;
    if (take_words(sorted)) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"prepare", prepare, METH_VARARGS, "Take the table of elements."},
    {"tag_row", tag_row, METH_VARARGS, "A document as a row of tags."},
    {"read", read_blocks, METH_VARARGS, "A document in blocks."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_html_blocks", "HTML in blocks of text.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__html_blocks(void) { return PyModule_Create(&MODULE); }
