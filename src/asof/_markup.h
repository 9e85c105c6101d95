/* Where tags, attributes and raw text begin and end: the twin in C of text/markup.py (HTML, section
 * 13.2.5), over bytes of any encoding that keeps ASCII where ASCII is. _native.c finds links by it,
 * text/html/_html_blocks.c text.
 *
 * Markup is hostile. Nothing is read outside [p, end); the cursor moves forward only; the stack of
 * open elements of SVG and MathML has DEEPEST places; attributes are on the heap, room for room.
 */
#ifndef ASOF_MARKUP_H
#define ASOF_MARKUP_H
#define PY_SSIZE_T_CLEAN
#define _GNU_SOURCE
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *at; /* NULL: not there */
    Py_ssize_t size;
} Text;

typedef struct {
    Text name, value; /* as written */
} Attribute;

#define DEEPEST 512
typedef struct {
    const char *p, *end;
    Attribute *attributes; /* of the tag that was read last */
    Py_ssize_t count, room;
    int plain; /* after <plaintext>: no more markup */
    int depth;
    unsigned char open[DEEPEST]; /* what decides whose rules hold */
} Markup;

typedef struct {
    Text text; /* in front of it */
    Text name; /* of a tag; empty: a comment or its like, or the end */
    Text written, raw;
    int closing, foreign, drawn, empty;
} Token;

/* What ends a name in a tag: blanks; with SLASH, / too; with STOP, > too; with EQUAL, = too. */
enum { GAP = 1, SLASH = 2, STOP = 4, EQUAL = 8, AFTER = GAP | SLASH | STOP };
static const unsigned char ENDS[256] = {
    [' '] = GAP, ['\n'] = GAP, ['\t'] = GAP, ['\r'] = GAP, ['\f'] = GAP,
    ['/'] = SLASH, ['>'] = STOP, ['='] = EQUAL,
};
enum { SVG = 1, MATH, FOREIGN_OBJECT, DESC, TITLE }; /* up to MATH its own rules, then HTML's */

static int ends(char c, int by) { return ENDS[(unsigned char)c] & by; }
static int letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* Whether some bytes are a word, in any case. */
static int is_word(Text text, const char *word) {
    Py_ssize_t i = 0;
    while (i < text.size && word[i] && lower(text.at[i]) == lower(word[i])) i++;
    return i == text.size && !word[i];
}

/* One of some words that are parted by blanks, one at either end. */
static int one_of(Text text, const char *words) {
    char wanted[20] = " ";
    if (text.size > 17) return 0;
    for (Py_ssize_t i = 0; i < text.size; i++) wanted[i + 1] = lower(text.at[i]);
    memcpy(wanted + text.size + 1, " ", 2);
    return strstr(words, wanted) != NULL;
}

static int begins(const char *p, const char *end, const char *word) {
    Py_ssize_t size = (Py_ssize_t)strlen(word);
    return end - p >= size && is_word((Text){p, size}, word);
}

static int foreign_rules(const Markup *m) { return m->depth && m->open[m->depth - 1] <= MATH; }

static void leave(Markup *m) {
    while (foreign_rules(m)) m->depth--;
}

static int nesting(Text name) {
    if (name.size == 3) return is_word(name, "svg") ? SVG : 0;
    if (name.size == 4) return is_word(name, "math") ? MATH : is_word(name, "desc") ? DESC : 0;
    if (name.size == 5) return is_word(name, "title") ? TITLE : 0;
    return name.size == 13 && is_word(name, "foreignobject") ? FOREIGN_OBJECT : 0;
}

static int breaks_out(Text name) {
    return one_of(name, " b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6"
                        " head hr i img li listing menu meta nobr ol p pre ruby s small span strong"
                        " strike sub sup table tt u ul var ");
}

/* Take a tag into account that may decide whose rules hold. */
static void nest(Markup *m, Text name, int closing, int closed) {
    int kind = nesting(name), foreign = foreign_rules(m), place = m->depth;
    if (closing) {
        while (kind && place > 0 && m->open[place - 1] != kind) place--;
        if (kind && place > 0) m->depth = place - 1;
        else if (foreign && (is_word(name, "p") || is_word(name, "br"))) leave(m);
        return;
    }
    if (kind && !(foreign || kind <= MATH)) return;
    if (kind) {
        /* `<math><svg>` is an element of MathML by that name. */
        int inner = kind <= MATH ? !foreign || m->open[m->depth - 1] == kind : m->open[m->depth - 1] == SVG;
        if (inner && !closed && m->depth < DEEPEST) m->open[m->depth++] = (unsigned char)kind;
    } else if (foreign && breaks_out(name)) {
        leave(m);
    }
}

static int at(const char *p, const char *end, const char *mark) {
    size_t size = strlen(mark);
    return (size_t)(end - p) >= size && !memcmp(p, mark, size);
}

static const char *comment_end(const char *p, const char *end) { /* from after <!-- */
    if (at(p, end, ">")) return p + 1;
    if (at(p, end, "->")) return p + 2;
    for (; (p = memchr(p, '-', end - p)) != NULL; p++) {
        if (at(p, end, "-->")) return p + 3;
        if (at(p, end, "--!>")) return p + 4;
    }
    return end;
}

static const char *cdata_end(const char *p, const char *end) {
    p = memmem(p, end - p, "]]>", 3);
    return p ? p + 3 : end;
}

/* Behind what begins with < at p and is no tag. */
static const char *other_end(const char *p, const char *end, int foreign) {
    if (at(p, end, "<!--")) return comment_end(p + 4, end);
    if (foreign && at(p, end, "<![CDATA[")) return cdata_end(p, end);
    p = memchr(p, '>', end - p);
    return p ? p + 1 : end;
}

/* `<!-- <script>` hides one `</script>` (HTML, "script data double escaped state"). */
static const char *script_end(const char *p, const char *end) {
    int escaped = 0, doubly = 0;
    while (p < end) {
        int closing = at(p, end, "</");
        const char *name = p + 1 + closing;
        if (at(p, end, "<!--")) {
            escaped = 1;
            p += 2;
        } else if (at(p, end, "-->")) {
            escaped = doubly = 0;
            p += 3;
        } else if (*p == '<' && end - name > 6 && begins(name, end, "script") && ends(name[6], AFTER)) {
            if (closing && !doubly) return p;
            doubly = closing ? 0 : escaped;
            p = name + 6;
        } else {
            p++;
        }
    }
    return end;
}

static int is_raw(Text name) {
    switch (name.size) {
    case 3: return is_word(name, "xmp");
    case 5: return is_word(name, "title") || is_word(name, "style");
    case 6: return is_word(name, "script") || is_word(name, "iframe");
    case 7: return is_word(name, "noembed");
    case 8: return is_word(name, "textarea") || is_word(name, "noframes");
    }
    return 0;
}

/* Where the text of a raw text element ends. */
static const char *raw_end(const char *start, const char *end, Text name, int foreign) {
    const char *p = start;
    if (foreign) { /* nothing is raw there, but what is in a style element is a style sheet */
        if (!is_word(name, "style")) return start;
        while ((p = memchr(p, '<', end - p)) != NULL && at(p, end, "<![CDATA[")) p = cdata_end(p, end);
        return p ? p : end;
    }
    for (; (p = memchr(p, '<', end - p)) != NULL; p++) {
        if (end - p <= name.size + 2 || p[1] != '/' || !ends(p[name.size + 2], AFTER)) continue;
        Py_ssize_t i = 0;
        while (i < name.size && lower(p[i + 2]) == lower(name.at[i])) i++;
        if (i == name.size) break;
    }
    if (p == NULL) p = end;
    return is_word(name, "script") && memmem(start, p - start, "<!--", 4) ? script_end(start, end) : p;
}

/* Room for more than `wanted` items of a size; -1 with an error set if there is none. */
static int grow(void **items, Py_ssize_t *room, size_t size, Py_ssize_t wanted) {
    Py_ssize_t more = 2 * wanted + 64;
    void *grown = PyMem_Realloc(*items, more * size);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *items = grown;
    *room = more;
    return 0;
}

/* The attributes of a tag, from the end of its name to behind it; `stop` is where the last one ends.
 * 0: the document ends inside the tag. -1: an error is set. */
static int read_attributes(Markup *m, const char **stop) {
    const char *p = m->p, *end = m->end;
    m->count = 0;
    for (*stop = p;; *stop = p) {
        while (p < end && ends(*p, GAP | SLASH)) p++;
        if (p == end) return 0;
        if (*p == '>') break;
        Attribute found = {{p, 0}, {"", 0}};
        if (*p == '=') p++;
        while (p < end && !ends(*p, AFTER | EQUAL)) p++;
        found.name.size = p - found.name.at;
        const char *value = p;
        while (value < end && ends(*value, GAP)) value++;
        if (value < end && *value == '=') {
            for (value++; value < end && ends(*value, GAP); value++) {}
            if (value == end) return 0;
            if (*value == '"' || *value == '\'') {
                p = memchr(value + 1, *value, end - value - 1);
                if (p == NULL) return 0;
                found.value = (Text){value + 1, p - value - 1};
                p++;
            } else {
                for (p = value; p < end && !ends(*p, GAP | STOP); p++) {}
                found.value = (Text){value, p - value};
            }
        }
        if (m->count == m->room && grow((void **)&m->attributes, &m->room, sizeof found, m->count)) return -1;
        m->attributes[m->count++] = found;
    }
    m->p = p + 1;
    return 1;
}

static int read_tag(Markup *m, Token *token, const char *p) {
    const char *stop, *end = m->end;
    int closing = p[1] == '/';
    Text name = {p + 1 + closing, 0};
    for (p = name.at; p < end && !ends(*p, AFTER); p++) name.size++;
    m->p = p;
    int whole = read_attributes(m, &stop);
    if (whole <= 0) {
        m->p = end;
        return whole < 0 ? -1 : 1;
    }
    token->closing = closing;
    token->name = name;
    token->written = (Text){p, stop - p};
    int kind = nesting(name), outer = kind == SVG || kind == MATH;
    int closed = m->p[-2] == '/' && stop < m->p - 1;
    token->foreign = foreign_rules(m);
    if (m->depth || outer) {
        nest(m, name, token->closing, closed);
        if (token->foreign && !token->closing && breaks_out(name)) token->foreign = 0;
    }
    token->drawn = m->depth > 0 || outer;
    token->empty = closed && (token->foreign || outer);
    token->raw = (Text){m->p, 0};
    if (token->closing || (closed && token->foreign)) return 1;
    if (is_raw(name)) {
        m->p = raw_end(m->p, end, name, token->foreign);
        token->raw.size = m->p - token->raw.at;
    }
    m->plain = !token->foreign && is_word(name, "plaintext");
    return 1;
}

/* The next token: 1. The last text, or an error: 0, -1. */
static int next_token(Markup *m, Token *token) {
    const char *end = m->end, *p = m->p;
    memset(token, 0, sizeof *token);
    for (;; p++) {
        p = m->plain ? NULL : memchr(p, '<', end - p);
        if (p == NULL || p + 1 >= end) {
            token->text = (Text){m->p, end - m->p};
            m->p = end;
            return 0;
        }
        if (p[1] == '!' || p[1] == '?' || letter(p[1]) || (p[1] == '/' && end - p > 2)) break;
    }
    token->text = (Text){m->p, p - m->p};
    if (letter(p[1] == '/' ? p[2] : p[1])) return read_tag(m, token, p);
    m->p = other_end(p, end, foreign_rules(m));
    return 1;
}
#endif
