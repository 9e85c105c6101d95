/* Shingles, minhash signatures and their comparison, in C: the compiled twin of fallback.py.
 *
 *   shingles(texts, k, distinct, characters)
 *                                  -> uint64s as bytes: the hashes of every k terms in a row of all
 *                                     texts, in their order, or (distinct) sorted and once each,
 *                                     and where each text's begin; or of every k characters.
 *   features(words)                -> the hash of each string, in their order.
 *   sign(hashes, starts, m, seed)  -> signatures of m uint32s, one for each stretch of hashes.
 *   sign_each(items, k, m, seed)   -> the same of texts, or of lists of strings.
 *   overlap(a, b)                  -> how many values two sorted arrays share.
 *   scan(query, hashes, starts, first, last, t, form)      -> documents near the query.
 *   pairs(hashes, starts, keys, sketches, order, parents, band, at, t, least, most)
 *                                  -> near pairs that share a band's key, and where to go on; with
 *                                     parents, the groups of near documents are joined instead.
 *
 * The definitions, and the same answers without this file, are in fallback.py, minhash.py and
 * near.py; property tests hold both to each other. Text is hostile: every loop is over what was
 * given, lengths are checked before anything is read, and sorting has no bad case. Long work
 * runs without the interpreter's lock, so that two threads use two cores.
 */
#include "../_arrays.h"

#define START 0x51A5C0DE0A50F001ULL
#define STEP 0x9E3779B97F4A7C15ULL /* of one chunk of a term to the next */
#define BASE 0xD1342543DE82EF95ULL /* of one term of a shingle to the next */
#define EMPTY 0xFFFFFFFFU
#define BLOCK 2048 /* characters at a time: what they become stays in the nearest cache */
#define SMALL 24   /* so many are sorted by insertion */
#define MOST_SLOTS 65536

enum { DONE = 0, CASED = 1, NO_MEMORY = -1 };

static uint64_t mix(uint64_t x) { /* splitmix64's last steps: every bit depends on every bit */
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31);
}

static uint64_t chunk(uint64_t hash, uint64_t eight) {
    hash = (hash ^ eight) * STEP;
    return hash ^ (hash >> 32);
}

static uint64_t load(const unsigned char *p) { /* little-endian everywhere */
    uint64_t value;
    memcpy(&value, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* ---- growing arrays ------------------------------------------------------------------------ */

typedef struct {
    uint64_t *at;
    size_t size, room;
} Hashes;

static int reserve(Hashes *hashes, size_t more) {
    if (more <= hashes->room - hashes->size) return DONE;
    size_t room = hashes->size + more;
    if (room < hashes->room + hashes->room / 2) room = hashes->room + hashes->room / 2;
    if (room > SIZE_MAX / sizeof(uint64_t)) return NO_MEMORY;
    uint64_t *at = realloc(hashes->at, room * sizeof(uint64_t));
    if (at == NULL) return NO_MEMORY;
    hashes->at = at;
    hashes->room = room;
    return DONE;
}

static PyObject *as_bytes(const Hashes *hashes) {
    return PyBytes_FromStringAndSize((const char *)hashes->at, hashes->size * sizeof(uint64_t));
}

/* ---- terms: runs of \w in lower case ------------------------------------------------------- */

/* What a character becomes in a term: its lower case in UTF-8, how many bytes that is, whether it
 * is of a word at all (one between words is a single 0), and whether it takes str.lower to tell:
 * a capital sigma is another at the end of a word, a dotted capital I becomes two characters. */
enum { LENGTH = 7, ASK = 64, WORD = 128 };
typedef struct {
    unsigned char bytes[3], kind;
} Becomes;
static Becomes BECOMES[65536];

static size_t utf8(uint32_t c, unsigned char *out) {
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (unsigned char)(0xC0 | c >> 6);
        out[1] = (unsigned char)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (unsigned char)(0xE0 | c >> 12);
        out[1] = (unsigned char)(0x80 | (c >> 6 & 63));
        out[2] = (unsigned char)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (unsigned char)(0xF0 | c >> 18);
    out[1] = (unsigned char)(0x80 | (c >> 12 & 63));
    out[2] = (unsigned char)(0x80 | (c >> 6 & 63));
    out[3] = (unsigned char)(0x80 | (c & 63));
    return 4;
}

static void fill_becomes(void) {
    for (uint32_t c = 0; c < 65536; c++) {
        uint32_t small = Py_UNICODE_TOLOWER(c);
        unsigned char out[4] = {0};
        Becomes *becomes = &BECOMES[c];
        if (c == 0x130 || c == 0x3A3 || small >= 65536) {
            becomes->kind = 1 | ASK;
        } else if (Py_UNICODE_ISALNUM(small) || c == '_') {
            becomes->kind = (unsigned char)(utf8(small, out) | WORD);
            memcpy(becomes->bytes, out, 3);
        } else {
            becomes->kind = 1;
        }
    }
}

typedef struct {
    const void *at;
    Py_ssize_t size;
    int kind; /* bytes a character; 0 for ASCII */
} Text;

static Text text_of(PyObject *text) {
    int kind = PyUnicode_IS_ASCII(text) ? 0 : PyUnicode_KIND(text);
    return (Text){PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text), kind};
}

/* Text on its way into terms: lower case, UTF-8, and for each byte whether it is of a word. */
typedef struct {
    unsigned char low[BLOCK * 4 + 32];
    unsigned char word[BLOCK * 4 + 32]; /* 0 or 0xFF */
    size_t fill;
    uint64_t hash, length; /* of the word that is open */
    int open;
} Reading;

/* Written as a compiler can do it for 16 bytes at once. */
#define ASCII(low_, word_, c_)                                                                   \
    do {                                                                                         \
        unsigned char c = (unsigned char)(c_);                                                   \
        unsigned char small = c + ((unsigned char)(c - 'A') < 26 ? 32 : 0);                      \
        int is = ((unsigned char)(small - 'a') < 26) | ((unsigned char)(c - '0') < 10);          \
        (low_) = small;                                                                          \
        (word_) = (unsigned char)-(is | (c == '_'));                                             \
    } while (0)

static int put_ascii(Reading *r, const uint8_t *p, size_t count) { /* saves a tenth of the time */
    unsigned char *low = r->low + r->fill, *word = r->word + r->fill;
    for (size_t i = 0; i < count; i++) ASCII(low[i], word[i], p[i]);
    r->fill += count;
    return DONE;
}

/* A character that no table has: one beyond the first plane, whose lower case may be, too. */
static size_t put_other(uint32_t c, unsigned char *low, unsigned char *word) {
    uint32_t small = Py_UNICODE_TOLOWER(c);
    if (!Py_UNICODE_ISALNUM(small)) small = 0;
    memset(word, small ? 0xFF : 0, 4);
    return utf8(small, low);
}

/* Without branches on what a character is, for text that mixes alphabets: four bytes are written
 * for each, of which the next character covers those that were not meant. */
#define DEFINE_PUT(name, type)                                                                   \
    static int name(Reading *r, const type *p, size_t count) {                                   \
        unsigned char *low = r->low + r->fill, *word = r->word + r->fill;                        \
        unsigned char ask = 0;                                                                   \
        for (size_t i = 0; i < count;) {                                                         \
            size_t stop = i + 16 < count ? i + 16 : count;                                       \
            uint32_t any = stop - i < 16 ? 0x80 : 0;                                             \
            if (!any)                                                                            \
                for (int j = 0; j < 16; j++) any |= p[i + j];                                    \
            if (any < 0x80) {                                                                    \
                for (int j = 0; j < 16; j++) ASCII(low[j], word[j], p[i + j]);                   \
                low += 16, word += 16, i = stop;                                                 \
                continue;                                                                        \
            }                                                                                    \
            for (; i < stop; i++) {                                                              \
                uint32_t c = p[i];                                                               \
                size_t step;                                                                     \
                if (sizeof(type) > 2 && c >= 65536) {                                            \
                    step = put_other(c, low, word);                                              \
                } else {                                                                         \
                    const Becomes *becomes = &BECOMES[c];                                        \
                    memcpy(low, becomes, 4);                                                     \
                    memset(word, -(becomes->kind >> 7), 4);                                      \
                    step = becomes->kind & LENGTH;                                               \
                    ask |= becomes->kind & ASK;                                                  \
                }                                                                                \
                low += step, word += step;                                                       \
            }                                                                                    \
        }                                                                                        \
        r->fill = low - r->low;                                                                  \
        return ask ? CASED : DONE;                                                               \
    }
DEFINE_PUT(put_1, uint8_t)
DEFINE_PUT(put_2, uint16_t)
DEFINE_PUT(put_4, uint32_t)

/* The terms in what was put, eight bytes at a time; fewer than eight bytes stay for the next. */
static void take_terms(Reading *r, Hashes *terms) {
    size_t at = 0;
    uint64_t *out = terms->at + terms->size, hash = r->hash, length = r->length;
    int open = r->open;
    while (at + 8 <= r->fill) {
        uint64_t word = load(r->word + at);
        if (!open) {
            if (word == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(word) >> 3;
            open = 1;
            hash = START;
            length = 0;
            if (at + 8 > r->fill) break;
            word = load(r->word + at);
        }
        if (~word == 0) {
            hash = chunk(hash, load(r->low + at));
            length += 8;
            at += 8;
            continue;
        }
        unsigned bits = __builtin_ctzll(~word) & 56;
        if (bits) hash = chunk(hash, load(r->low + at) & ((1ULL << bits) - 1));
        *out++ = chunk(hash, length + bits / 8);
        open = 0;
        at += bits / 8 + 1;
    }
    r->hash = hash;
    r->length = length;
    r->open = open;
    terms->size = out - terms->at;
    r->fill -= at;
    memmove(r->low, r->low + at, r->fill);
    memmove(r->word, r->word + at, r->fill);
}

static int read_terms(Text text, Hashes *terms) {
    Reading r;
    r.fill = r.hash = r.length = 0;
    r.open = 0;
    for (Py_ssize_t i = 0; i < text.size;) {
        size_t count = text.size - i < BLOCK ? (size_t)(text.size - i) : BLOCK;
        int result = DONE;
        switch (text.kind) {
        case 0: result = put_ascii(&r, (const uint8_t *)text.at + i, count); break;
        case 1: result = put_1(&r, (const uint8_t *)text.at + i, count); break;
        case 2: result = put_2(&r, (const uint16_t *)text.at + i, count); break;
        default: result = put_4(&r, (const uint32_t *)text.at + i, count);
        }
        if (result != DONE) return result;
        if (reserve(terms, r.fill / 2 + 2) != DONE) return NO_MEMORY;
        take_terms(&r, terms);
        i += count;
    }
    memset(r.word + r.fill, 0, 16); /* a word at the very end has its end too */
    r.fill += 8;
    if (reserve(terms, r.fill / 2 + 2) != DONE) return NO_MEMORY;
    take_terms(&r, terms);
    return DONE;
}

/* ---- shingles ------------------------------------------------------------------------------ */

/* Hashes of terms, from `from` on, into those of every k in a row, in their place. */
static void roll(Hashes *hashes, size_t from, size_t k) {
    uint64_t *at = hashes->at + from, window = 0, power = 1;
    size_t count = hashes->size - from, width = count < k ? count : k;
    if (count == 0) return;
    for (size_t i = 0; i < width; i++) {
        window = window * BASE + at[i];
        power *= BASE;
    }
    for (size_t i = 0; i + width < count; i++) {
        uint64_t old = at[i];
        at[i] = mix(window);
        window = window * BASE - old * power + at[i + width];
    }
    at[count - width] = mix(window);
    hashes->size = from + count - width + 1;
}

static void insertion(uint64_t *a, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t value = a[i];
        size_t j = i;
        for (; j && a[j - 1] > value; j--) a[j] = a[j - 1];
        a[j] = value;
    }
}

/* By the highest bits into more heaps than there are values, then each heap by the next bits.
 * Values are hashes, so that most heaps have one value; equal ones end when the bits do. */
static void sort(uint64_t *a, uint64_t *spare, size_t count, int left) {
    if (count <= SMALL) {
        insertion(a, count);
        return;
    }
    if (left == 0) return;
    uint32_t ends[4096];
    int bits = 6;
    while (bits < 12 && (size_t)1 << bits < 4 * count) bits++;
    if (bits > left) bits = left;
    int shift = left - bits;
    uint32_t heaps = (uint32_t)1 << bits, mask = heaps - 1, sum = 0, most = 0;
    memset(ends, 0, heaps * sizeof *ends);
    for (size_t i = 0; i < count; i++) ends[a[i] >> shift & mask]++;
    for (uint32_t h = 0; h < heaps; h++) {
        uint32_t size = ends[h];
        ends[h] = sum;
        sum += size;
        most = size > most ? size : most;
    }
    for (size_t i = 0; i < count; i++) spare[ends[a[i] >> shift & mask]++] = a[i];
    memcpy(a, spare, count * sizeof *a);
    if (most <= SMALL) { /* every value is within a few of its place */
        insertion(a, count);
        return;
    }
    uint32_t start = 0;
    for (uint32_t h = 0; h < heaps; h++) {
        if (ends[h] - start > 1) sort(a + start, spare, ends[h] - start, shift);
        start = ends[h];
    }
}

static int distinct(Hashes *hashes, size_t from) {
    size_t count = hashes->size - from;
    if (count > UINT32_MAX || reserve(hashes, count) != DONE) return NO_MEMORY; /* room behind, to sort with */
    uint64_t *a = hashes->at + from;
    sort(a, a + count, count, 64);
    size_t kept = count ? 1 : 0;
    for (size_t i = 1; i < count; i++) {
        a[kept] = a[i];
        kept += a[kept] != a[kept - 1];
    }
    hashes->size = from + kept;
    return DONE;
}

/* ---- signatures ---------------------------------------------------------------------------- */

static size_t empty_slots(const uint32_t *slots, uint32_t m) {
    size_t empty = 0;
    for (uint32_t j = 0; j < m; j++) empty += slots[j] == EMPTY;
    return empty;
}

/* As minhash.py: three rounds in which every hash falls into one slot, and the smallest of
 * the first round that reaches a slot stays; what no round reaches has an order of its own. */
static int sign_one(const uint64_t *x, size_t count, Hashes *spare, uint32_t *fresh, uint32_t m,
                    uint64_t seed, uint32_t *slots) {
    static const uint32_t TURN[3] = {1, 0x9E3779B1U, 0x85EBCA77U};
    uint64_t start = mix(seed + STEP), *rest;
    memset(slots, 0xFF, m * sizeof *slots);
    if (count == 0) return DONE;
    if (reserve(spare, count) != DONE) return NO_MEMORY;
    rest = spare->at;
    for (size_t i = 0; i < count; i++) {
        uint64_t z = (x[i] ^ start) * STEP, place = (z >> 32) * m;
        uint32_t rank = (uint32_t)(z ^ z >> 32), *slot = slots + (place >> 32);
        *slot = rank < *slot ? rank : *slot;
        rest[i] = place << 32 | rank;
    }
    for (int round = 1; round < 3; round++) {
        if (empty_slots(slots, m) == 0) return DONE;
        memset(fresh, 0xFF, m * sizeof *slots);
        for (size_t i = 0; i < count; i++) {
            uint64_t place = (rest[i] >> 32) * m;
            uint32_t rank = (uint32_t)rest[i], turned = rank * TURN[round];
            uint32_t *slot = fresh + (place >> 32);
            *slot = turned < *slot ? turned : *slot;
            rest[i] = place << 32 | rank;
        }
        for (uint32_t j = 0; j < m; j++)
            slots[j] = slots[j] == EMPTY ? fresh[j] : slots[j];
    }
    if (empty_slots(slots, m) == 0) return DONE;
    for (uint32_t j = 0; j < m; j++) {
        if (slots[j] != EMPTY) continue;
        uint64_t own = mix(start + j + 1);
        uint32_t least = EMPTY;
        for (size_t i = 0; i < count; i++) {
            uint32_t rank = (uint32_t)(((x[i] ^ own) * STEP) >> 32);
            least = rank < least ? rank : least;
        }
        slots[j] = least;
    }
    return DONE;
}

/* ---- comparison ---------------------------------------------------------------------------- */

/* How many values two sorted arrays share; fewer than there are, if `least` is out of reach. */
static size_t shared(const uint64_t *a, size_t of_a, const uint64_t *b, size_t of_b,
                     size_t least) {
    size_t i = 0, j = 0, common = 0;
    while (i + 16 <= of_a && j + 16 <= of_b) {
        size_t can = of_a - i < of_b - j ? of_a - i : of_b - j;
        if (common + can < least) return common;
        for (int step = 0; step < 16; step++) {
            uint64_t x = a[i], y = b[j];
            common += x == y;
            i += x <= y;
            j += y <= x;
        }
    }
    while (i < of_a && j < of_b) {
        uint64_t x = a[i], y = b[j];
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}

enum { JACCARD = 0, CONTAINMENT = 1 };

/* The fewest that two sets must share to be as near as t (0 < t <= 1), by the division that the
 * answer is given with, so that a pair exactly at t is never lost to rounding. */
static size_t least_shared(size_t a, size_t b, double t, int form) {
    size_t all = a + b, small = a < b ? a : b, c;
    if (form == CONTAINMENT) {
        c = (size_t)(t * (double)small);
        while (c && (double)(c - 1) / (double)small >= t) c--;
        while (c <= small && (double)c / (double)small < t) c++;
        return c;
    }
    c = (size_t)(t * (double)all / (1 + t));
    while (c && (double)(c - 1) / (double)(all - (c - 1)) >= t) c--;
    while (c <= small && (double)c / (double)(all - c) < t) c++;
    return c;
}

typedef struct {
    const uint64_t *hashes;
    const int64_t *starts;
    size_t count; /* of documents */
} Documents;

/* The first two arrays that were taken. */
static int open_documents(const Arrays *v, Documents *d) {
    *d = (Documents){start(v, 0), start(v, 1), v->sizes[1] - 1};
    return sound(d->starts, v->sizes[1], v->sizes[0]);
}

static size_t size_of(const Documents *d, size_t i) { return d->starts[i + 1] - d->starts[i]; }

/* How many two sets share if they are as near as t, else 0. */
static size_t near(const uint64_t *one, size_t a, const uint64_t *other, size_t b, double t,
                   int form) {
    size_t small = a < b ? a : b;
    if (small == 0) return 0;
    size_t least = least_shared(a, b, t, form);
    if (least > small) return 0;
    size_t common = shared(one, a, other, b, least);
    return common >= least ? common : 0;
}

/* ---- for Python: texts --------------------------------------------------------------------- */

static PyObject *wrong(const char *complaint) {
    PyErr_SetString(PyExc_ValueError, complaint);
    return NULL;
}

static int plain_text(PyObject *text) {
    if (!PyUnicode_Check(text)) {
        PyErr_Format(PyExc_TypeError, "text expected, not %.100s", Py_TYPE(text)->tp_name);
        return 0;
    }
    return PyUnicode_READY(text) == 0;
}

/* The shingles of a text behind those in `out`; called without the lock, which is taken only to
 * ask str.lower about the characters that depend on their neighbours. */
static int shingle(PyObject *text, size_t k, Hashes *out) {
    size_t from = out->size;
    int result = read_terms(text_of(text), out);
    if (result == CASED) {
        PyGILState_STATE lock = PyGILState_Ensure();
        PyObject *lowered = PyObject_CallMethod((PyObject *)&PyUnicode_Type, "lower", "O", text);
        PyThreadState *running = lowered ? PyEval_SaveThread() : NULL;
        out->size = from;
        result = lowered ? read_terms(text_of(lowered), out) : NO_MEMORY;
        if (running) PyEval_RestoreThread(running);
        PyErr_Clear(); /* there is one way to fail, and it is told by the result */
        Py_XDECREF(lowered);
        PyGILState_Release(lock);
    }
    if (result == DONE) roll(out, from, k);
    return result;
}

/* Every k characters of a text, behind those in `out`. */
static int shingle_characters(PyObject *text, size_t k, Hashes *out) {
    size_t from = out->size, size = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *data = PyUnicode_DATA(text);
    if (reserve(out, size + 1) != DONE) return NO_MEMORY;
    for (size_t i = 0; i < size; i++)
        out->at[from + i] = mix(START ^ (uint64_t)PyUnicode_READ(kind, data, i));
    out->size += size;
    roll(out, from, k);
    return DONE;
}

static PyObject *shingles(PyObject *self, PyObject *args) {
    PyObject *texts, *own, *answer = NULL;
    Py_ssize_t k;
    int once, characters, result = DONE;
    Hashes found = {0}, starts = {0};
    if (!PyArg_ParseTuple(args, "Onpp", &texts, &k, &once, &characters)) return NULL;
    if (k < 1) return wrong("k must be at least 1");
    if ((own = PySequence_Tuple(texts)) == NULL) return NULL; /* nobody takes one away meanwhile */
    size_t count = PyTuple_GET_SIZE(own);
    for (size_t i = 0; i < count; i++)
        if (!plain_text(PyTuple_GET_ITEM(own, i))) return Py_DECREF(own), NULL;
    Py_BEGIN_ALLOW_THREADS
    result = reserve(&starts, count + 1);
    if (result == DONE) starts.at[starts.size++] = 0;
    for (size_t i = 0; result == DONE && i < count; i++) {
        PyObject *text = PyTuple_GET_ITEM(own, i);
        size_t from = found.size;
        result = characters ? shingle_characters(text, k, &found) : shingle(text, k, &found);
        if (result == DONE && once) result = distinct(&found, from);
        starts.at[starts.size++] = found.size;
    }
    Py_END_ALLOW_THREADS
    answer = result == DONE ? Py_BuildValue("(NN)", as_bytes(&found), as_bytes(&starts))
                            : PyErr_NoMemory();
    free(found.at);
    free(starts.at);
    Py_DECREF(own);
    return answer;
}

/* ---- for Python: strings ------------------------------------------------------------------- */

/* Bytes in chunks of eight, the last filled up with zeros. Sixteen a step, and one of the two that
 * are left is computed whether it is there or not: fewer ends for the processor to guess. */
static uint64_t hash_ascii(const unsigned char *p, size_t size) {
    uint64_t hash = START, last = 0;
    size_t i = 0;
    if (size < 8) {
        for (; i < size; i++) last |= (uint64_t)p[i] << 8 * i;
        return chunk(size ? chunk(hash, last) : hash, size);
    }
    for (; i + 16 < size; i += 16) hash = chunk(chunk(hash, load(p + i)), load(p + i + 8));
    size_t rest = size - i, two = rest > 8;
    uint64_t next = chunk(hash, load(p + (two ? i : size - 8)));
    hash ^= (next ^ hash) & -(uint64_t)two;
    last = load(p + size - 8) >> (64 - 8 * (two ? rest - 8 : rest));
    return chunk(chunk(hash, last), size);
}

static uint64_t hash_word(PyObject *word) {
    if (PyUnicode_IS_ASCII(word))
        return hash_ascii(PyUnicode_1BYTE_DATA(word), PyUnicode_GET_LENGTH(word));
    unsigned char bytes[12];
    uint64_t hash = START, length = 0;
    size_t fill = 0;
    int kind = PyUnicode_KIND(word);
    const void *data = PyUnicode_DATA(word);
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(word); i++) {
        fill += utf8(PyUnicode_READ(kind, data, i), bytes + fill);
        if (fill < 8) continue;
        hash = chunk(hash, load(bytes));
        fill -= 8;
        length += 8;
        memcpy(bytes, bytes + 8, 4);
    }
    if (fill) {
        memset(bytes + fill, 0, 8 - fill);
        hash = chunk(hash, load(bytes));
    }
    return chunk(hash, length + fill);
}

static int hash_words(PyObject *words, Hashes *into) {
    PyObject *fast = PySequence_Fast(words, "a list of strings expected");
    if (fast == NULL) return -1;
    size_t count = PySequence_Fast_GET_SIZE(fast);
    PyObject **items = PySequence_Fast_ITEMS(fast);
    int fine = reserve(into, count) == DONE || PyErr_NoMemory() != NULL;
    for (size_t i = 0; fine && i < count; i++) {
        if (i + 16 < count) { /* they lie anywhere in memory: saves 8 % of the time */
            __builtin_prefetch(items[i + 16]);
            __builtin_prefetch((char *)items[i + 16] + 64);
        }
        fine = plain_text(items[i]);
        if (fine) into->at[into->size++] = hash_word(items[i]);
    }
    Py_DECREF(fast);
    return fine ? 0 : -1;
}

static PyObject *features(PyObject *self, PyObject *words) {
    Hashes found = {0};
    PyObject *answer = hash_words(words, &found) < 0 ? NULL : as_bytes(&found);
    free(found.at);
    return answer;
}

/* What signing takes beside the hashes. */
typedef struct {
    Hashes hashes, spare;
    uint32_t *fresh; /* the slots of a later round */
    uint32_t *slots;
} Work;

static PyObject *begin_signing(Work *work, size_t count, Py_ssize_t m) {
    memset(work, 0, sizeof *work);
    if (m < 1 || m > MOST_SLOTS) return wrong("m must be 1 to 65536");
    if (count > (size_t)PY_SSIZE_T_MAX / 4 / m) return PyErr_NoMemory();
    if ((work->fresh = malloc(m * sizeof(uint32_t))) == NULL) return PyErr_NoMemory();
    PyObject *answer = PyBytes_FromStringAndSize(NULL, count * m * sizeof(uint32_t));
    if (answer) work->slots = (uint32_t *)PyBytes_AS_STRING(answer);
    return answer;
}

static PyObject *end_signing(Work *work, PyObject *answer, int result) {
    free(work->hashes.at);
    free(work->spare.at);
    free(work->fresh);
    if (answer == NULL || result == DONE) return answer;
    Py_DECREF(answer);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
}

static PyObject *sign(PyObject *self, PyObject *args) {
    PyObject *given[2];
    Py_ssize_t m;
    unsigned long long seed;
    Documents d;
    Arrays v;
    Work work;
    int result = DONE;
    if (!PyArg_ParseTuple(args, "OOnK", &given[0], &given[1], &m, &seed)) return NULL;
    if (!take(&v, given, "qq") || !open_documents(&v, &d)) return misfit(&v);
    PyObject *answer = begin_signing(&work, d.count, m);
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = 0; answer && result == DONE && i < d.count; i++)
        result = sign_one(d.hashes + d.starts[i], size_of(&d, i), &work.spare, work.fresh, m, seed,
                          work.slots + i * m);
    Py_END_ALLOW_THREADS
    return done(&v, end_signing(&work, answer, result));
}

/* Of each item, without keeping its hashes: of the shingles of a text, or of a list of strings. */
static PyObject *sign_each(PyObject *self, PyObject *args) {
    PyObject *items, *own;
    Py_ssize_t k, m;
    unsigned long long seed;
    Work work;
    int result = DONE;
    if (!PyArg_ParseTuple(args, "OnnK", &items, &k, &m, &seed)) return NULL;
    if (k < 1) return wrong("k must be at least 1");
    if ((own = PySequence_Tuple(items)) == NULL) return NULL;
    size_t count = PyTuple_GET_SIZE(own);
    PyObject *answer = begin_signing(&work, count, m);
    for (size_t i = 0; answer && result == DONE && i < count; i++) {
        PyObject *item = PyTuple_GET_ITEM(own, i);
        int text = PyUnicode_Check(item);
        work.hashes.size = 0;
        if (text ? !plain_text(item) : hash_words(item, &work.hashes) < 0) {
            result = NO_MEMORY;
            break;
        }
        Py_BEGIN_ALLOW_THREADS
        if (text) result = shingle(item, k, &work.hashes);
        if (result == DONE)
            result = sign_one(work.hashes.at, work.hashes.size, &work.spare, work.fresh, m, seed,
                              work.slots + i * m);
        Py_END_ALLOW_THREADS
    }
    Py_DECREF(own);
    return end_signing(&work, answer, result);
}

/* ---- for Python: nearness ------------------------------------------------------------------ */

static PyObject *overlap(PyObject *self, PyObject *args) {
    PyObject *given[2];
    Arrays v;
    size_t common;
    if (!PyArg_ParseTuple(args, "OO", &given[0], &given[1])) return NULL;
    if (!take(&v, given, "qq")) return misfit(&v);
    Py_BEGIN_ALLOW_THREADS
    common = shared(start(&v, 0), v.sizes[0], start(&v, 1), v.sizes[1], 0);
    Py_END_ALLOW_THREADS
    return done(&v, PyLong_FromSize_t(common));
}

static PyObject *scan(PyObject *self, PyObject *args) {
    PyObject *given[3];
    Py_ssize_t first, last;
    double t;
    int form, result = DONE;
    Arrays v;
    Documents d;
    Hashes found = {0};
    if (!PyArg_ParseTuple(args, "OOOnndi", &given[2], &given[0], &given[1], &first, &last, &t,
                          &form))
        return NULL;
    if (!(t > 0 && t <= 1)) return wrong("t must be above 0, at most 1");
    if (!take(&v, given, "qqq") || !open_documents(&v, &d)) return misfit(&v);
    if (first < 0 || last < first || (size_t)last > d.count) return misfit(&v);
    size_t size = v.sizes[2];
    Py_BEGIN_ALLOW_THREADS
    for (size_t i = first; size && result == DONE && i < (size_t)last; i++) {
        size_t common = near(start(&v, 2), size, d.hashes + d.starts[i], size_of(&d, i), t, form);
        if (common == 0) continue;
        result = reserve(&found, 2);
        if (result != DONE) break;
        found.at[found.size++] = i;
        found.at[found.size++] = common;
    }
    Py_END_ALLOW_THREADS
    PyObject *answer = result == DONE ? as_bytes(&found) : PyErr_NoMemory();
    free(found.at);
    return done(&v, answer);
}

/* Documents in the order of their keys in one band; those with equal keys stand together. */
typedef struct {
    Documents d;
    const uint64_t *keys;
    const unsigned char *sketches; /* a byte of each slot of each signature */
    const int64_t *order;
    int64_t *parents; /* NULL if pairs are asked for */
    size_t bands, band, slots, least;
    double t;
} Band;

static int open_band(const Arrays *v, Band *b, Py_ssize_t band, Py_ssize_t at) {
    if (!open_documents(v, &b->d)) return 0;
    size_t count = b->d.count, keys = v->sizes[2], sketches = v->sizes[3];
    b->keys = start(v, 2);
    b->sketches = start(v, 3);
    b->order = start(v, 4);
    b->parents = v->held > 5 ? start(v, 5) : NULL;
    b->bands = count ? keys / count : 0;
    b->slots = count ? sketches / count : 0;
    b->band = band;
    if (keys != count * b->bands || sketches != count * b->slots || v->sizes[4] != count) return 0;
    if (at < 0 || (size_t)at > count || band < 0 || (count && (size_t)band >= b->bands)) return 0;
    if (b->parents && v->sizes[5] != count) return 0;
    for (size_t i = 0; i < count; i++) /* parents lie before: no circles */
        if ((uint64_t)b->order[i] >= count || (b->parents && (uint64_t)b->parents[i] > i)) return 0;
    return 1;
}

static uint64_t key(const Band *b, size_t place) {
    return b->keys[b->order[place] * b->bands + b->band];
}

/* Whether an earlier band had the two together, where they were compared already. */
static int met(const Band *b, size_t i, size_t j) {
    const uint64_t *one = b->keys + i * b->bands, *other = b->keys + j * b->bands;
    for (size_t band = 0; band < b->band; band++)
        if (one[band] == other[band]) return 1;
    return 0;
}

/* Whether the signatures leave any hope: this is cheap, and most candidates end here where a
 * template makes all documents a little alike. */
static int hopeful(const Band *b, size_t i, size_t j) {
    const unsigned char *one = b->sketches + i * b->slots, *other = b->sketches + j * b->slots;
    size_t same = 0, at = 0;
    if (b->least == 0) return 1;
    while (at < b->slots) {
        size_t stop = at + 128 < b->slots ? at + 128 : b->slots;
        unsigned char some = 0; /* a byte, so that sixteen are counted at once */
        for (; at < stop; at++) some += one[at] == other[at];
        same += some;
    }
    return same >= b->least;
}

/* How many two candidates share, if they are near and meet here for the first time; else 0. */
static size_t verified(const Band *b, size_t i, size_t j) {
    if (!hopeful(b, i, j) || met(b, i, j)) return 0;
    const Documents *d = &b->d;
    return near(d->hashes + d->starts[i], size_of(d, i), d->hashes + d->starts[j], size_of(d, j),
                b->t, JACCARD);
}

static int64_t root(int64_t *parents, int64_t i) {
    while (parents[i] != i) i = parents[i] = parents[parents[i]];
    return i;
}

/* Where the documents end that have the key of the one at p, if all are of one group; else p. */
static size_t behind_joined(const Band *b, size_t p) {
    uint64_t here = key(b, p);
    if (p && key(b, p - 1) == here) return p;
    int64_t group = root(b->parents, b->order[p]);
    size_t q = p + 1;
    for (; q < b->d.count && key(b, q) == here; q++)
        if (root(b->parents, b->order[q]) != group) return p;
    return q;
}

/* What the documents at p and q come to: a pair that is found, or groups that are joined. */
static int meet(const Band *b, size_t p, size_t q, Hashes *found) {
    size_t i = b->order[p], j = b->order[q];
    if (b->parents) {
        int64_t one = root(b->parents, i), other = root(b->parents, j);
        if (one != other && verified(b, i, j))
            b->parents[one < other ? other : one] = one < other ? one : other;
        return DONE;
    }
    size_t common = verified(b, i, j);
    if (common == 0) return DONE;
    if (reserve(found, 3) != DONE) return NO_MEMORY;
    found->at[found->size++] = i < j ? i : j;
    found->at[found->size++] = i < j ? j : i;
    found->at[found->size++] = common;
    return DONE;
}

static PyObject *pairs(PyObject *self, PyObject *args) {
    PyObject *o[6];
    Py_ssize_t band, at, least, most;
    int result = DONE;
    Band b;
    Arrays v;
    Hashes found = {0};
    if (!PyArg_ParseTuple(args, "OOOOOOnndnn", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &band, &at,
                          &b.t, &least, &most))
        return NULL;
    if (!(b.t > 0 && b.t <= 1)) return wrong("t must be above 0, at most 1");
    if (!take(&v, o, o[5] == Py_None ? "qqqbq" : "qqqbqQ") || !open_band(&v, &b, band, at))
        return misfit(&v);
    b.least = least < 0 ? 0 : (size_t)least;
    size_t p = at, looked = 0;
    Py_BEGIN_ALLOW_THREADS
    while (result == DONE && p < b.d.count && looked < (size_t)most) {
        size_t behind = b.parents ? behind_joined(&b, p) : p;
        looked += behind - p + 1;
        if (behind == p) {
            uint64_t here = key(&b, p);
            for (size_t q = p + 1; result == DONE && q < b.d.count && key(&b, q) == here; q++) {
                result = meet(&b, p, q, &found);
                looked++;
            }
            behind++;
        }
        p = behind;
    }
    Py_END_ALLOW_THREADS
    PyObject *answer = result == DONE ? Py_BuildValue("(Nn)", as_bytes(&found), (Py_ssize_t)p)
                                      : PyErr_NoMemory();
    free(found.at);
    return done(&v, answer);
}

static PyMethodDef METHODS[] = {
    {"shingles", shingles, METH_VARARGS, "Shingles of texts, and where those of each begin."},
    {"features", features, METH_O, "The hash of each string."},
    {"sign", sign, METH_VARARGS, "Minhash signatures of stretches of hashes."},
    {"sign_each", sign_each, METH_VARARGS, "Minhash signatures of texts, or of lists of strings."},
    {"overlap", overlap, METH_VARARGS, "How many values two sorted arrays share."},
    {"scan", scan, METH_VARARGS, "Documents near a query."},
    {"pairs", pairs, METH_VARARGS, "Near pairs that share the key of a band, or their groups."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "asof.change._shingles", "Shingles, signatures and their comparison.",
    0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__shingles(void) {
    fill_becomes();
    return PyModule_Create(&MODULE);
}
