/* An HTML document in blocks of text: the compiled twin of text/html/tag_row.py and _Reader of
 * text/html/blocks.py (ADR 7).
 *
 *   prepare(elements, words, roles) -> None   takes the tables of text/html/parts.py.
 *   read(markup, most, block, mark, settle, attributes) -> (blocks, marks, tokens, wild)
 *       as the twin has them; None if the markup has a NUL, which stands for <br> here.
 *       block, mark: the named tuples to make; most: tokens.
 *       settle(text, said): the text of a block that needs more than its white space put right.
 *       attributes: (most, count): how many a tag may have, and what counts them.
 *
 * Markup is hostile. Nothing is read outside [p, end); the cursor moves forward only; the stack of
 * open elements grows on the heap; an end tag looks FAR elements up and no further.
 */
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <stdint.h>
#include <string.h>

enum { HIDDEN = 1, DOUBTFUL = 4, REMARKS = 16, LINKED = 32, KEPT = 64 };
enum { EXACTLY, BEGINNING, PAIR };
enum {
    LAYOUT = 1, INLINE = 2, VOID = 4, SPEAKS = 8, ROW = 16, CELL = 32, BREAK = 64, FIELD = 128,
    WHOLE = 256
};
#define FAR 64
#define SLOTS 512 /* a power of two, several times the number of elements */
#define LONGEST_NAME 16

typedef struct {
    PyObject *name; /* NULL: a free slot */
    uint64_t hash;
    int says, kind, group, ends;
    char raw, script;
} Element;

static Element table[SLOTS];
static const Element PLAIN;

#define LONGEST_WORD 20
#define MOST_WORDS 160
typedef struct {
    char text[LONGEST_WORD];
    Py_ssize_t size; /* 0: the end of a list */
    int rule, says;
} Word;

static Word word_room[2 * MOST_WORDS], roles[MOST_WORDS];
static const Word *words[26 * 26]; /* by their first two letters; NULL: none */
static int role_count;

typedef struct {
    const char *at;
    Py_ssize_t size;
} Text;

typedef struct {
    uint64_t hash;
    const Element *element;
    Text name; /* as written, for an element that is not in the table */
    int outside;
} Open;

typedef struct {
    const char *p, *end;
    PyTypeObject *block, *mark;
    PyObject *blocks, *marks, *settle, *count;
    Py_ssize_t most_attributes;
    int wild;
    char *parts; /* the text of the block so far, in UTF-8 */
    Py_ssize_t size, room;
    int begun, odd; /* whether there is any; whether it has references */
    Py_ssize_t linked;
    Open *stack;
    Py_ssize_t depth, deepest;
    int said, around_said, row;
    PyObject *around;
} Reader;

/* What ends a name in a tag: blanks; with SLASH, / too; with STOP, > too; with EQUAL, = too. */
enum { GAP = 1, SLASH = 2, STOP = 4, EQUAL = 8 };
static const unsigned char ENDS[256] = {
    [' '] = GAP, ['\n'] = GAP, ['\t'] = GAP, ['\r'] = GAP, ['\f'] = GAP,
    ['/'] = SLASH, ['>'] = STOP, ['='] = EQUAL,
};

static int ends(char c, int by) { return ENDS[(unsigned char)c] & by; }

static int letter(unsigned char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

static unsigned char lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static uint64_t hash_of(Text name) {
    uint64_t hash = 14695981039346656037ULL;
    for (Py_ssize_t i = 0; i < name.size; i++)
        hash = (hash ^ lower((unsigned char)name.at[i])) * 1099511628211ULL;
    return hash;
}

static const Element *element_of(Text name, uint64_t hash) {
    if (name.size > LONGEST_NAME) return &PLAIN;
    for (uint64_t slot = hash;; slot++) {
        const Element *element = &table[(slot ^ slot >> 32) % SLOTS];
        if (element->name == NULL) return &PLAIN;
        if (element->hash == hash) {
            Py_ssize_t size;
            const char *known = PyUnicode_AsUTF8AndSize(element->name, &size);
            if (known && size == name.size) {
                Py_ssize_t i = 0;
                while (i < size && lower((unsigned char)name.at[i]) == (unsigned char)known[i]) i++;
                if (i == size) return element;
            }
        }
    }
}

static PyObject *text_of(const char *at, Py_ssize_t size) {
    return PyUnicode_DecodeUTF8(at, size, "replace");
}

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
    while (p < end) {
        int width = space(p, end);
        if (!width) return 0;
        p += width;
    }
    return 1;
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
        if (*p == 0) {
            between = '\n';
            p++;
        } else if ((width = space(p, end))) {
            p += width;
        } else {
            if (to > text) *to++ = between;
            between = ' ';
            while (p < end && ((*p > ' ' && *p < 0x80) || (*p && !space(p, end)))) *to++ = (char)*p++;
        }
    }
    return to - text;
}

/* The references that nearly all pages make do with; the rest of html.unescape is Python's. */
static const struct {
    const char *name, *text;
} REFERENCES[] = {
    {"amp;", "&"}, {"nbsp;", "\xc2\xa0"}, {"quot;", "\""}, {"lt;", "<"}, {"gt;", ">"},
    {"apos;", "'"}, {"rsquo;", "\xe2\x80\x99"}, {"lsquo;", "\xe2\x80\x98"},
    {"rdquo;", "\xe2\x80\x9d"}, {"ldquo;", "\xe2\x80\x9c"}, {"ndash;", "\xe2\x80\x93"},
    {"mdash;", "\xe2\x80\x94"}, {"hellip;", "\xe2\x80\xa6"}, {"copy;", "\xc2\xa9"},
    {"reg;", "\xc2\xae"},
};

/* The character of a plain numeric reference from after &#, or 0; `size` is its length. */
static unsigned numbered(const char *p, const char *end, int *size) {
    const char *at = p;
    int hex = at < end && (*at | 32) == 'x';
    unsigned code = 0;
    for (at += hex; at < end && *at != ';'; at++) {
        unsigned char c = (unsigned char)*at;
        unsigned digit = 99;
        if (c >= '0' && c <= '9') digit = c - '0';
        else if (hex && (c | 32) >= 'a' && (c | 32) <= 'f') digit = (c | 32) - 'a' + 10;
        if (digit == 99 || (code = code * (hex ? 16 : 10) + digit) > 0xfffd) return 0;
    }
    *size = (int)(at - p) + 1;
    int plain = (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code < 0xd800) ||
                (code >= 0xe000 && code < 0xfdd0) || (code >= 0xfdf0 && code <= 0xfffd);
    return at < end && plain ? code : 0;
}

/* What stands for the reference at & in UTF-8; the length of it in `size`, 0: leave it to Python. */
static int referred(const char *p, const char *end, char *to, int *size) {
    *size = 1;
    *to = '&';
    if (p + 1 == end || strchr("\t\n\f <&;", p[1])) return 1; /* strchr finds NUL, <br>, too */
    if (p[1] == '#') {
        int digits = 0;
        unsigned code = numbered(p + 2, end, &digits);
        *size = 2 + digits;
        if (code == 0) return 0;
        if (code < 0x80) return *to = (char)code, 1;
        if (code < 0x800) return to[0] = (char)(0xc0 | code >> 6), to[1] = (char)(0x80 | (code & 63)), 2;
        to[0] = (char)(0xe0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 63));
        to[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    for (size_t i = 0; i < sizeof REFERENCES / sizeof *REFERENCES; i++) {
        size_t length = strlen(REFERENCES[i].name);
        if ((size_t)(end - p) > length && !memcmp(p + 1, REFERENCES[i].name, length)) {
            *size = 1 + (int)length;
            strcpy(to, REFERENCES[i].text);
            return (int)strlen(REFERENCES[i].text);
        }
    }
    return 0;
}

/* References resolved in place; -1: there are some that are Python's, and nothing was done. */
static Py_ssize_t resolve(char *text, Py_ssize_t size) {
    char *end = text + size, *p = text, *to, character[8];
    int written, read;
    for (; (p = memchr(p, '&', end - p)) != NULL; p += read)
        if (!referred(p, end, character, &read)) return -1;
    for (p = to = text; p < end;) {
        if (*p == '&') {
            written = referred(p, end, character, &read);
            memcpy(to, character, written);
            to += written;
            p += read;
        } else {
            *to++ = *p++;
        }
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

static int keep(Reader *r, Text text) {
    if (r->size + text.size > r->room) {
        Py_ssize_t room = 2 * (r->size + text.size) + 1024;
        char *parts = PyMem_Realloc(r->parts, room);
        if (parts == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        r->parts = parts;
        r->room = room;
    }
    memcpy(r->parts + r->size, text.at, text.size);
    r->size += text.size;
    r->begun = 1;
    return 0;
}

static int end_block(Reader *r) {
    PyObject *text;
    Py_ssize_t size = r->around_said & KEPT ? -1 : r->odd ? resolve(r->parts, r->size) : r->size;
    if (size < 0) {
        PyObject *raw = text_of(r->parts, r->size);
        if (raw == NULL) return -1;
        text = PyObject_CallFunction(r->settle, "Ni", raw, r->around_said);
    } else {
        text = text_of(r->parts, collapse(r->parts, size));
    }
    Py_ssize_t linked = r->linked;
    r->size = r->linked = 0;
    r->begun = r->odd = 0;
    if (text == NULL) return -1;
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (length == 0) {
        Py_DECREF(text);
        return 0;
    }
    int beside = r->row == 2;
    if (beside) r->row = 1;
    PyObject *values[] = {text, PyLong_FromSsize_t(linked < length ? linked : length),
                          Py_NewRef(r->around), PyLong_FromLong(r->around_said),
                          Py_NewRef(beside ? Py_True : Py_False)};
    return add(r->blocks, named(r->block, values, 5));
}

/* The name of the innermost open element. */
static PyObject *innermost(Reader *r) {
    if (r->depth == 0) return PyUnicode_FromStringAndSize(NULL, 0);
    Open *top = &r->stack[r->depth - 1];
    if (top->element->name) return Py_NewRef(top->element->name);
    PyObject *name = text_of(top->name.at, top->name.size);
    if (name && PyUnicode_IS_ASCII(name)) Py_SETREF(name, PyObject_CallMethod(name, "lower", NULL));
    return name;
}

static int add_text(Reader *r, Text text) {
    if (r->begun) {
        int turned = (r->said ^ r->around_said) & HIDDEN;
        if (turned & r->said) return 0;
        if (turned && end_block(r)) return -1;
    }
    if (!r->begun) {
        if (!(r->said & KEPT) && all_space(text)) return 0;
        PyObject *name = innermost(r);
        if (name == NULL) return -1;
        Py_XSETREF(r->around, name);
        r->around_said = r->said;
    }
    if (memchr(text.at, '&', text.size)) r->odd = 1;
    if (r->said & LINKED) r->linked += characters(text);
    return keep(r, text);
}

static int push(Reader *r, Text name, uint64_t hash, const Element *element, int own) {
    if (r->depth == r->deepest) {
        Py_ssize_t deepest = 2 * r->deepest + 256;
        Open *stack = PyMem_Realloc(r->stack, deepest * sizeof(Open));
        if (stack == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        r->stack = stack;
        r->deepest = deepest;
    }
    r->stack[r->depth++] = (Open){hash, element, name, r->said};
    r->said |= own;
    return 0;
}

static void close_element(Reader *r, uint64_t hash) {
    Py_ssize_t low = r->depth > FAR ? r->depth - FAR : 0;
    for (Py_ssize_t place = r->depth; place-- > low;)
        if (r->stack[place].hash == hash) {
            r->said = r->stack[place].outside;
            r->depth = place;
            return;
        }
}

static int is_word(Text text, const char *word) { /* in any case */
    Py_ssize_t i = 0;
    while (i < text.size && word[i] && lower((unsigned char)text.at[i]) == (unsigned char)word[i]) i++;
    return i == text.size && !word[i];
}

/* The next attribute, and p past it; 0: there is none. As in past_attributes, but all of it is there. */
static int attribute(const char **p, const char *end, Text *name, Text *value) {
    const char *at = *p;
    while (at < end && ends(*at, GAP | SLASH)) at++;
    if (at == end) return 0;
    name->at = at;
    if (*at == '=') at++;
    while (at < end && !ends(*at, GAP | SLASH | STOP | EQUAL)) at++;
    name->size = at - name->at;
    *value = (Text){at, 0};
    const char *after = at;
    while (after < end && ends(*after, GAP)) after++;
    if (after < end && *after == '=') {
        at = after + 1;
        while (at < end && ends(*at, GAP)) at++;
        if (at < end && (*at == '"' || *at == '\'')) {
            const char *quote = memchr(at + 1, *at, end - at - 1);
            if (quote == NULL) quote = end;
            *value = (Text){at + 1, quote - at - 1};
            at = quote < end ? quote + 1 : end;
        } else {
            value->at = at;
            while (at < end && !ends(*at, GAP | STOP)) at++;
            value->size = at - value->at;
        }
    }
    *p = at;
    return 1;
}

/* The known words that begin with the first two letters of a word. */
static const Word *like(Text word) {
    if (word.size < 2) return NULL;
    return words[(lower((unsigned char)word.at[0]) - 'a') * 26 + lower((unsigned char)word.at[1]) - 'a'];
}

static int word_says(Text word, Text before) {
    int said = 0;
    for (const Word *known = like(word); known && known->size; known++) {
        if (known->rule == PAIR || known->size > word.size) continue;
        if (known->rule == EXACTLY && known->size != word.size) continue;
        if (is_word((Text){word.at, known->size}, known->text)) said |= known->says;
    }
    for (const Word *known = like(before); known && known->size; known++)
        if (known->rule == PAIR && known->size == before.size + word.size &&
            is_word(word, known->text + before.size)) {
            Py_ssize_t i = 0;
            while (i < before.size && lower((unsigned char)before.at[i]) == (unsigned char)known->text[i])
                i++;
            if (i == before.size) said |= known->says;
        }
    return said;
}

static int words_say(Text value) {
    const char *p = value.at, *end = p + value.size;
    int said = 0;
    Text before = {p, 0};
    while (p < end) {
        if (!letter((unsigned char)*p)) {
            p++;
            continue;
        }
        Text word = {p, 0};
        while (p < end && letter((unsigned char)*p)) p++;
        word.size = p - word.at;
        said |= word_says(word, before);
        before = word;
    }
    return said & REMARKS ? said & ~DOUBTFUL : said;
}

static int begins(const char *p, const char *end, const char *word) {
    Py_ssize_t size = (Py_ssize_t)strlen(word);
    return end - p >= size && is_word((Text){p, size}, word);
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
    for (int i = 0; i < role_count; i++)
        if (roles[i].size == value.size && !memcmp(roles[i].text, value.at, value.size))
            return roles[i].says;
    return 0;
}

/* What attributes say of their element. */
static int attributes_say(Text written) {
    const char *p = written.at, *end = p + written.size;
    int said = 0;
    Text name, value;
    while (attribute(&p, end, &name, &value)) {
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
            if (is_word(name, "hidden") &&
                (value.size != 11 || memcmp(value.at, "until-found", 11)))
                said |= HIDDEN;
            break;
        case 8:
            if (is_word(name, "itemprop")) said |= words_say(value);
        }
    }
    return said;
}

/* Whether "idden" or "one" is there: one of them is in whatever hides. */
static int may_hide(Text text) {
    const char *p = text.at, *end = p + text.size;
    for (const char *at = p + 1; at < end; at++) {
        if ((*at | 32) != 'n') continue;
        if ((at[-1] | 32) == 'o' && at + 1 < end && (at[1] | 32) == 'e') return 1;
        if (at - p >= 4 && is_word((Text){at - 4, 5}, "idden")) return 1;
    }
    return 0;
}

static int hides(Text written) { return may_hide(written) ? attributes_say(written) & HIDDEN : 0; }

static int open_element(Reader *r, Text name, uint64_t hash, const Element *element, Text written) {
    if (element->kind & VOID) return 0;
    if (r->depth && r->stack[r->depth - 1].element->group & element->ends)
        r->said = r->stack[--r->depth].outside;
    int own = 0;
    if (element->says & LINKED)
        own = hides(written);
    else if (!(element->kind & WHOLE))
        own = attributes_say(written);
    return push(r, name, hash, element, element->says | own);
}

static int border(Reader *r, int kind, int end) {
    if (kind & INLINE) return 0;
    if (r->begun) {
        if (r->said & ~r->around_said & HIDDEN) return 0;
        if (end_block(r)) return -1;
    }
    if (kind & ROW)
        r->row = 0;
    else if (kind & CELL && !end)
        r->row = r->row ? 2 : 1;
    return 0;
}

static int plain(Reader *r, Text name, uint64_t hash, const Element *element, int end, Text written,
                 Text raw) {
    if (element->kind & BREAK) {
        if (!r->begun) return 0;
        return keep(r, (Text){"\0", 1});
    }
    if (end) {
        close_element(r, hash);
        return 0;
    }
    if (element->kind & FIELD) return raw.size == 0 || hides(written) ? 0 : add_text(r, raw);
    if (element->kind & VOID || !hides(written)) return 0;
    return push(r, name, hash, element, HIDDEN);
}

static int count_attributes(Reader *r, Text written) {
    PyObject *count = PyObject_CallFunction(r->count, "N", text_of(written.at, written.size));
    if (count == NULL) return -1;
    Py_ssize_t many = PyLong_AsSsize_t(count);
    Py_DECREF(count);
    r->wild = many > r->most_attributes;
    return 0;
}

static int tag(Reader *r, int end, Text name, uint64_t hash, const Element *element, Text written,
               Text raw) {
    if (element->kind & SPEAKS && !end && (!element->script || memmem(written.at, written.size, "ld+json", 7))) {
        PyObject *values[] = {Py_NewRef(element->name), text_of(written.at, written.size),
                              text_of(raw.at, raw.size)};
        if (add(r->marks, named(r->mark, values, 3))) return -1;
    }
    int failed;
    if (element->kind & LAYOUT) {
        failed = border(r, element->kind, end);
        if (!failed && end)
            close_element(r, hash);
        else if (!failed)
            failed = open_element(r, name, hash, element, written);
    } else {
        failed = plain(r, name, hash, element, end, written, raw);
    }
    if (!failed && written.size > r->most_attributes && !r->wild && characters(written) > r->most_attributes)
        failed = count_attributes(r, written);
    return failed;
}

/* Past the attributes of a tag, from the end of its name; `stop` is where the last one ends.
 * NULL: the document ends inside the tag. */
static const char *past_attributes(const char *p, const char *end, const char **stop) {
    *stop = p;
    for (;;) {
        while (p < end && ends(*p, GAP | SLASH)) p++;
        if (p == end) return NULL;
        if (*p == '>') return p + 1;
        if (*p == '=') p++;
        while (p < end && !ends(*p, GAP | SLASH | STOP | EQUAL)) p++;
        const char *after = p;
        while (after < end && ends(*after, GAP)) after++;
        if (after < end && *after == '=') {
            p = after + 1;
            while (p < end && ends(*p, GAP)) p++;
            if (p == end) return NULL;
            if (*p == '"' || *p == '\'') {
                p = memchr(p + 1, *p, end - p - 1);
                if (p == NULL) return NULL;
                p++;
            } else {
                while (p < end && !ends(*p, GAP | STOP)) p++;
            }
        }
        *stop = p;
    }
}

/* Where the text of a raw text element ends. */
static const char *raw_end(const char *p, const char *end, Text name) {
    while ((p = memchr(p, '<', end - p)) != NULL) {
        if (end - p > name.size + 2 && p[1] == '/') {
            const char *after = p + 2;
            Py_ssize_t i = 0;
            while (i < name.size && lower((unsigned char)after[i]) == lower((unsigned char)name.at[i]))
                i++;
            after += i;
            if (i == name.size && ends(*after, GAP | SLASH | STOP)) return p;
        }
        p++;
    }
    return end;
}

static const char *comment_end(const char *p, const char *end) { /* from after <!-- */
    if (p < end && *p == '>') return p + 1;
    if (end - p > 1 && p[0] == '-' && p[1] == '>') return p + 2;
    while ((p = memchr(p, '-', end - p)) != NULL) {
        if (end - p > 2 && p[1] == '-') {
            if (p[2] == '>') return p + 3;
            if (end - p > 3 && p[2] == '!' && p[3] == '>') return p + 4;
        }
        p++;
    }
    return end;
}

/* Past what begins with < at p and is no tag. */
static const char *past_other(const char *p, const char *end) {
    if (end - p >= 4 && !memcmp(p, "<!--", 4)) return comment_end(p + 4, end);
    p = memchr(p, '>', end - p);
    return p ? p + 1 : end;
}

/* One token; 1 at the end, -1 with an error set. */
static int step(Reader *r) {
    const char *end = r->end, *p = r->p;
    for (;;) {
        p = memchr(p, '<', end - p);
        if (p == NULL || (p + 1 < end && (letter((unsigned char)p[1]) || p[1] == '/' ||
                                      p[1] == '!' || p[1] == '?'))) break;
        p++;
    }
    Text text = {r->p, (p ? p : end) - r->p};
    if (text.size && add_text(r, text)) return -1;
    if (p == NULL) return 1;
    int closing = p[1] == '/';
    const char *name_at = p + 1 + closing;
    if (p[1] == '!' || p[1] == '?' || name_at == end || !letter((unsigned char)*name_at)) {
        r->p = past_other(p, end);
        return 0;
    }
    Text name = {name_at, 0};
    p = name_at;
    while (p < end && !ends(*p, GAP | SLASH | STOP)) p++;
    name.size = p - name_at;
    const char *stop;
    const char *inside = p;
    r->p = past_attributes(p, end, &stop);
    if (r->p == NULL) return 1;
    uint64_t hash = hash_of(name);
    const Element *element = element_of(name, hash);
    Text raw = {r->p, 0};
    if (element->raw && !closing) {
        r->p = raw_end(r->p, end, name);
        raw.size = r->p - raw.at;
    }
    return tag(r, closing, name, hash, element, (Text){inside, stop - inside}, raw);
}

static PyObject *read_blocks(PyObject *self, PyObject *args) {
    PyObject *markup;
    Reader r = {0};
    Py_ssize_t most, count = 0, size;
    if (!PyArg_ParseTuple(args, "UnO!O!O(nO)", &markup, &most, &PyType_Type, &r.block,
                          &PyType_Type, &r.mark, &r.settle, &r.most_attributes, &r.count))
        return NULL;
    if (!PyType_IsSubtype(r.block, &PyTuple_Type) || !PyType_IsSubtype(r.mark, &PyTuple_Type)) {
        PyErr_SetString(PyExc_TypeError, "named tuples for blocks and marks");
        return NULL;
    }
    r.p = PyUnicode_AsUTF8AndSize(markup, &size);
    if (r.p == NULL) return NULL;
    if (memchr(r.p, 0, size)) Py_RETURN_NONE;
    r.end = r.p + size;
    PyObject *found = NULL;
    r.blocks = PyList_New(0);
    r.marks = PyList_New(0);
    int state = r.blocks && r.marks ? 0 : -1;
    while (state == 0 && count < most) {
        state = step(&r);
        count++;
        if (count % 4096 == 0 && PyErr_CheckSignals()) state = -1;
    }
    if (state >= 0 && !(r.begun && end_block(&r)))
        found = Py_BuildValue("OOni", r.blocks, r.marks, count, r.wild);
    Py_XDECREF(r.blocks);
    Py_XDECREF(r.marks);
    Py_XDECREF(r.around);
    PyMem_Free(r.parts);
    PyMem_Free(r.stack);
    return found;
}

static int take_word(Word *word, PyObject *text, int rule, int says) {
    Py_ssize_t size;
    const char *written = PyUnicode_AsUTF8AndSize(text, &size);
    if (written == NULL) return -1;
    if (size < 2 || size >= LONGEST_WORD || !letter((unsigned char)written[0]) ||
        !letter((unsigned char)written[1])) {
        PyErr_SetString(PyExc_ValueError, "a word is too long, too short, or none");
        return -1;
    }
    *word = (Word){.size = size, .rule = rule, .says = says};
    memcpy(word->text, written, size);
    return 0;
}

static int take_words(PyObject *list, PyObject *named_roles) {
    static Word taken[MOST_WORDS];
    Word *next = word_room;
    PyObject *text;
    Py_ssize_t count = PyTuple_GET_SIZE(list);
    int rule, says;
    if (count > MOST_WORDS || PyTuple_GET_SIZE(named_roles) > MOST_WORDS) {
        PyErr_SetString(PyExc_ValueError, "too many words");
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(list, i), "Uii", &text, &rule, &says) ||
            take_word(&taken[i], text, rule, says))
            return -1;
    for (int pair = 0; pair < 26 * 26; pair++) {
        words[pair] = next;
        for (Py_ssize_t i = 0; i < count; i++)
            if ((taken[i].text[0] - 'a') * 26 + taken[i].text[1] - 'a' == pair) *next++ = taken[i];
        if (next == words[pair])
            words[pair] = NULL;
        else
            *next++ = (Word){0};
    }
    for (role_count = 0; role_count < PyTuple_GET_SIZE(named_roles); role_count++)
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(named_roles, role_count), "Ui", &text, &says) ||
            take_word(&roles[role_count], text, EXACTLY, says))
            return -1;
    return 0;
}

static int take_element(PyObject *name, PyObject *values) {
    static const char *const RAW[] = {"script", "style", "title", "textarea", "xmp", "iframe",
                                      "noembed", "noframes"};
    Element element = {0};
    Py_ssize_t size;
    const char *written = PyUnicode_AsUTF8AndSize(name, &size);
    if (written == NULL || !PyArg_ParseTuple(values, "iiii", &element.says, &element.kind,
                                             &element.group, &element.ends))
        return -1;
    element.hash = hash_of((Text){written, size});
    for (size_t i = 0; i < sizeof RAW / sizeof *RAW; i++) element.raw |= !strcmp(written, RAW[i]);
    element.script = !strcmp(written, "script");
    uint64_t slot = element.hash;
    while (table[(slot ^ slot >> 32) % SLOTS].name) slot++;
    element.name = Py_NewRef(name);
    table[(slot ^ slot >> 32) % SLOTS] = element;
    return 0;
}

static PyObject *prepare(PyObject *self, PyObject *args) {
    PyObject *elements, *list, *named_roles, *name, *values;
    Py_ssize_t at = 0;
    if (!PyArg_ParseTuple(args, "O!O!O!", &PyDict_Type, &elements, &PyTuple_Type, &list,
                          &PyTuple_Type, &named_roles))
        return NULL;
    if (PyDict_GET_SIZE(elements) > SLOTS / 2) {
        PyErr_SetString(PyExc_ValueError, "too many elements");
        return NULL;
    }
    for (int slot = 0; slot < SLOTS; slot++) Py_CLEAR(table[slot].name);
    while (PyDict_Next(elements, &at, &name, &values))
        if (take_element(name, values)) return NULL;
    if (take_words(list, named_roles)) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef METHODS[] = {
    {"prepare", prepare, METH_VARARGS, "Take the table of elements."},
    {"read", read_blocks, METH_VARARGS, "A document in blocks."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_html_blocks", "HTML in blocks of text.", -1, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__html_blocks(void) { return PyModule_Create(&MODULE); }
