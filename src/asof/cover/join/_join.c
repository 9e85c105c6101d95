/* The exact coverage join in C: the compiled twin of fallback.py.
 *
 *   digests(items, offsets)              -> two uint64s of each set: equal for equal sets.
 *   overlaps(items, offsets, i, j)       -> int32s: how many items each pair has in common.
 *   number(items, ends, cursors, places, ids, parts, covers, scratch, last)
 *                                        -> uint32s: how many sets have each item up to the last.
 *   rank(counts)                         -> how many ranks: counts become ranks, the rarest first.
 *   relabel(items, ends, cursors, places, ids, table, last)      ids become ranks.
 *   arrange(ids, offsets, kept, first, last)         sort the ranks of each set, without uniques.
 *   pack(ids, offsets, kept)             move them together.
 *   mark(ranks, offsets, prefixes, wanted)           a bit for each rank that will be asked for.
 *   post(ranks, offsets, covers, wanted, starts, postings, first, last)
 *                                        -> postings there are; they are written where there is room.
 *   probe(...)                           -> int32 triples: covered, covering, common; where to go on.
 *
 * What they are for is told in ranking.py and join.py. Lengths are checked before anything is read;
 * the long loops run without the interpreter's lock, so that two threads use two cores.
 */
#include "../../_arrays.h"

#define UNIQUE 0xFFFFFFFFU
#define OFTEN 0x80000000U /* of a count: more than one set has the item */
#define SMALL 32          /* so many are sorted by insertion */
#define DIGIT 11
#define AHEAD 12 /* sets whose items are asked for before they are needed */
#if defined(__GNUC__) || defined(__clang__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

/* ---- whole sets ---------------------------------------------------------------------------- */

static PyObject *digests(PyObject *self, PyObject *args) {
    PyObject *given[2];
    Arrays v;
    if (!PyArg_ParseTuple(args, "OO", &given[0], &given[1])) return NULL;
    if (!take(&v, given, "qq")) return misfit(&v);
    const uint64_t *items = start(&v, 0);
    const int64_t *offsets = start(&v, 1);
    size_t count = v.sizes[1];
    if (!sound(offsets, count, v.sizes[0])) return misfit(&v);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (count - 1) * 16);
    if (answer == NULL) return done(&v, NULL);
    uint64_t *out = (uint64_t *)PyBytes_AS_STRING(answer);
    Py_BEGIN_ALLOW_THREADS
    for (size_t d = 0; d + 1 < count; d++) {
        uint64_t sum = 0, mixed = 0;
        for (int64_t p = offsets[d]; p < offsets[d + 1]; p++) {
            sum += items[p];
            mixed = (mixed ^ items[p]) * 0x9E3779B97F4A7C15ULL;
            mixed ^= mixed >> 29;
        }
        out[2 * d] = sum;
        out[2 * d + 1] = mixed;
    }
    Py_END_ALLOW_THREADS
    return done(&v, answer);
}

static PyObject *overlaps(PyObject *self, PyObject *args) {
    PyObject *given[4];
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOOO", &given[0], &given[1], &given[2], &given[3])) return NULL;
    if (!take(&v, given, "qqqq")) return misfit(&v);
    const uint64_t *items = start(&v, 0);
    const int64_t *offsets = start(&v, 1), *i = start(&v, 2), *j = start(&v, 3);
    size_t sets = v.sizes[1] - 1, pairs = v.sizes[2];
    int fine = sound(offsets, v.sizes[1], v.sizes[0]) && v.sizes[3] == pairs;
    for (size_t k = 0; fine && k < pairs; k++) /* a negative one is more than there are, too */
        fine = (uint64_t)i[k] < sets && (uint64_t)j[k] < sets;
    if (!fine) return misfit(&v);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, pairs * 4);
    if (answer == NULL) return done(&v, NULL);
    int32_t *out = (int32_t *)PyBytes_AS_STRING(answer);
    Py_BEGIN_ALLOW_THREADS
    for (size_t k = 0; k < pairs; k++) {
        const uint64_t *a = items + offsets[i[k]], *a_end = items + offsets[i[k] + 1];
        const uint64_t *b = items + offsets[j[k]], *b_end = items + offsets[j[k] + 1];
        int32_t common = 0;
        while (a < a_end && b < b_end) {
            uint64_t x = *a, y = *b;
            common += x == y;
            a += x <= y;
            b += y <= x;
        }
        out[k] = common;
    }
    Py_END_ALLOW_THREADS
    return done(&v, answer);
}

/* ---- numbering: items of all sets, a range of values at a time ------------------------------ */

typedef struct {
    uint64_t item;
    uint32_t part, id; /* id 0: nothing here */
} Slot;

typedef struct {
    Slot *slots;
    uint32_t *counts;
    size_t size, room; /* items known; slots, a power of two */
    int shift, owned;  /* whether the slots are ours to free */
} Table;

static size_t slot_of(const Table *t, uint64_t item, uint32_t part) {
    uint64_t hash = (item ^ ((uint64_t)part * 0xD1342543DE82EF95ULL)) * 0x9E3779B97F4A7C15ULL;
    return (hash ^ (hash << 23)) >> t->shift;
}

static int shift_of(size_t room) {
    int shift = 64;
    for (; room > 1; room /= 2) shift--;
    return shift;
}

static int grow(Table *t) {
    size_t room = t->room ? t->room * 2 : 1 << 12;
    uint32_t *counts = realloc(t->counts, room / 2 * 4);
    if (counts == NULL) return 0;
    t->counts = counts;
    Table grown = {calloc(room, sizeof(Slot)), counts, t->size, room, shift_of(room), 1};
    if (grown.slots == NULL) return 0;
    for (size_t s = 0; s < t->room; s++) {
        if (t->slots[s].id == 0) continue;
        size_t at = slot_of(&grown, t->slots[s].item, t->slots[s].part);
        while (grown.slots[at].id) at = (at + 1) & (room - 1);
        grown.slots[at] = t->slots[s];
    }
    if (t->owned) free(t->slots);
    *t = grown;
    return 1;
}

/* An empty table in memory that the caller keeps from range to range: new memory costs more. */
static int open_table(Table *t, void *scratch, size_t bytes) {
    size_t room = bytes >= sizeof(Slot) << 12 ? 1 << 12 : 0;
    while (room && room * 2 <= bytes / sizeof(Slot)) room *= 2;
    *t = (Table){scratch, NULL, 0, room, shift_of(room), 0};
    if (room == 0) return grow(t);
    memset(scratch, 0, room * sizeof(Slot));
    return (t->counts = malloc(room / 2 * 4)) != NULL;
}

/* The number of an item, from 0, in the order of first sight. */
static int64_t learn(Table *t, uint64_t item, uint32_t part, uint32_t covers) {
    size_t at = slot_of(t, item, part);
    while (t->slots[at].id) {
        if (t->slots[at].item == item && t->slots[at].part == part) {
            uint32_t id = t->slots[at].id - 1;
            t->counts[id] = (t->counts[id] + covers) | OFTEN;
            return id;
        }
        at = (at + 1) & (t->room - 1);
    }
    if (t->size == t->room / 2) {
        if (!grow(t)) return -1;
        return learn(t, item, part, covers);
    }
    t->counts[t->size] = covers;
    t->slots[at] = (Slot){item, part, (uint32_t)++t->size};
    return t->size - 1;
}

#define LOOKS 32 /* slots asked for before they are needed */
typedef struct {
    uint64_t item;
    uint32_t *id, part, covers;
} Look;

static int learn_all(Table *t, const Look *looks, size_t count) {
    for (size_t k = 0; k < count; k++) {
        int64_t id = learn(t, looks[k].item, looks[k].part, looks[k].covers);
        if (id < 0) return 0;
        *looks[k].id = (uint32_t)id;
    }
    return 1;
}

typedef struct {
    Arrays v;
    const uint64_t *items;
    const int64_t *ends, *places;
    int64_t *cursors;
    uint32_t *ids;
    size_t count;
} Walk;

/* Cursors lie before their ends, and places, less the cursor's origin, within the ids. */
static int open_walk(Walk *w, PyObject *const *given, const char *kinds) {
    if (!take(&w->v, given, kinds)) return 0;
    const size_t *sizes = w->v.sizes;
    w->items = start(&w->v, 0);
    w->ends = start(&w->v, 1);
    w->cursors = start(&w->v, 2);
    w->places = start(&w->v, 3);
    w->ids = start(&w->v, 4);
    w->count = sizes[2];
    if (sizes[1] != w->count || sizes[3] != w->count) return 0;
    for (size_t g = 0; g < w->count; g++) /* places: where the last of a set's ids is, plus one */
        if (w->cursors[g] < 0 || w->cursors[g] > w->ends[g] || (size_t)w->ends[g] > sizes[0] ||
            (size_t)w->places[g] > sizes[4] || w->places[g] < w->ends[g] - w->cursors[g])
            return 0;
    return 1;
}

static PyObject *number(PyObject *self, PyObject *args) {
    PyObject *o[8];
    unsigned long long last; /* item of the range: a limit behind it could not be written */
    Walk w;
    if (!PyArg_ParseTuple(args, "OOOOOOOOK", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &o[6],
                          &o[7], &last))
        return NULL;
    if (!open_walk(&w, o, "qqQqIibQ") || w.v.sizes[5] != w.count || w.v.sizes[6] != w.count)
        return misfit(&w.v);
    const uint32_t *parts = start(&w.v, 5);
    const uint8_t *covers = start(&w.v, 6);
    Table t;
    int fine = open_table(&t, start(&w.v, 7), w.v.sizes[7] * 8);
    Py_BEGIN_ALLOW_THREADS
    Look looks[LOOKS];
    size_t waiting = 0;
    for (size_t g = 0; fine && g < w.count; g++) {
        if (g + AHEAD < w.count) PREFETCH(w.items + w.cursors[g + AHEAD]);
        int64_t at = w.cursors[g], end = w.ends[g], place = w.places[g] - end;
        for (; fine && at < end && w.items[at] <= last; at++) {
            looks[waiting++] = (Look){w.items[at], w.ids + place + at, parts[g], covers[g] != 0};
            PREFETCH(t.slots + slot_of(&t, w.items[at], parts[g]));
            if (waiting < LOOKS) continue;
            fine = learn_all(&t, looks, waiting);
            waiting = 0;
        }
        w.cursors[g] = at;
    }
    fine = fine && learn_all(&t, looks, waiting);
    Py_END_ALLOW_THREADS
    PyObject *answer = fine ? PyBytes_FromStringAndSize((char *)t.counts, t.size * 4)
                            : PyErr_NoMemory();
    if (t.owned) free(t.slots);
    free(t.counts);
    return done(&w.v, answer);
}

/* By counting: items that as many sets have keep their order; beyond 65,535 sets all are alike. */
static PyObject *rank(PyObject *self, PyObject *given) {
    Arrays v;
    if (!take(&v, &given, "I")) return misfit(&v);
    uint32_t *counts = start(&v, 0), *next = calloc(65536, 4), sum = 0;
    size_t size = v.sizes[0];
    if (next == NULL) return done(&v, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    for (size_t p = 0; p < size; p++) { /* alone with an item, or nobody to cover: of no use */
        uint32_t sets = counts[p] & ~OFTEN;
        if (!(counts[p] & OFTEN)) sets = 0;
        counts[p] = sets > 65535 ? 65535 : sets;
        next[counts[p]]++;
    }
    next[0] = 0;
    for (uint32_t sets = 0; sets < 65536; sets++) {
        uint32_t here = next[sets];
        next[sets] = sum;
        sum += here;
    }
    for (size_t p = 0; p < size; p++) counts[p] = counts[p] ? next[counts[p]]++ : UNIQUE;
    Py_END_ALLOW_THREADS
    free(next);
    return done(&v, PyLong_FromUnsignedLong(sum));
}

static PyObject *relabel(PyObject *self, PyObject *args) {
    PyObject *o[6];
    unsigned long long last;
    Walk w;
    if (!PyArg_ParseTuple(args, "OOOOOOK", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &last))
        return NULL;
    if (!open_walk(&w, o, "qqQqIi")) return misfit(&w.v);
    const uint32_t *table = start(&w.v, 5);
    size_t known = w.v.sizes[5];
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0; g < w.count; g++) {
        if (g + AHEAD < w.count) {
            PREFETCH(w.items + w.cursors[g + AHEAD]);
            PREFETCH(w.ids + (w.places[g + AHEAD] - w.ends[g + AHEAD] + w.cursors[g + AHEAD]));
        }
        int64_t at = w.cursors[g], end = w.ends[g], place = w.places[g] - end;
        for (; at < end && w.items[at] <= last; at++) {
            uint32_t id = w.ids[place + at];
            w.ids[place + at] = id < known ? table[id] : UNIQUE;
        }
        w.cursors[g] = at;
    }
    Py_END_ALLOW_THREADS
    return done(&w.v, Py_NewRef(Py_None));
}

/* ---- sets of ranks ------------------------------------------------------------------------- */

/* Sorted, with a second array of the same room: by insertion, or by digits from the lowest up. */
static void sort(uint32_t *at, uint32_t *spare, size_t size) {
    if (size <= SMALL) {
        for (size_t p = 1; p < size; p++) {
            uint32_t value = at[p];
            size_t q = p;
            for (; q > 0 && at[q - 1] > value; q--) at[q] = at[q - 1];
            at[q] = value;
        }
        return;
    }
    uint32_t all = 0, *from = at, *to = spare;
    for (size_t p = 0; p < size; p++) all |= at[p];
    int digit = size < 512 ? 8 : DIGIT;
    uint32_t mask = (1U << digit) - 1;
    for (int shift = 0; shift < 32 && all >> shift; shift += digit) {
        uint32_t counts[1 << DIGIT], sum = 0;
        memset(counts, 0, (mask + 1) * sizeof *counts);
        for (size_t p = 0; p < size; p++) counts[from[p] >> shift & mask]++;
        for (uint32_t d = 0; d <= mask; d++) {
            uint32_t here = counts[d];
            counts[d] = sum;
            sum += here;
        }
        for (size_t p = 0; p < size; p++) to[counts[from[p] >> shift & mask]++] = from[p];
        uint32_t *turn = from;
        from = to;
        to = turn;
    }
    if (from != at) memcpy(at, from, size * sizeof *at);
}

static PyObject *arrange(PyObject *self, PyObject *args) {
    PyObject *o[3];
    Py_ssize_t first, last;
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOOnn", &o[0], &o[1], &o[2], &first, &last)) return NULL;
    if (!take(&v, o, "IqQ")) return misfit(&v);
    uint32_t *ids = start(&v, 0);
    const int64_t *offsets = start(&v, 1);
    int64_t *kept = start(&v, 2), largest = 0;
    size_t sets = v.sizes[2];
    if (!sound(offsets, v.sizes[1], v.sizes[0]) || v.sizes[1] != sets + 1 || first < 0 ||
        first > last || (size_t)last > sets)
        return misfit(&v);
    for (Py_ssize_t g = first; g < last; g++)
        if (offsets[g + 1] - offsets[g] > largest) largest = offsets[g + 1] - offsets[g];
    uint32_t *spare = malloc(largest * 4 + 4);
    if (spare == NULL) return done(&v, PyErr_NoMemory());
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t g = first; g < last; g++) {
        uint32_t *at = ids + offsets[g];
        size_t here = offsets[g + 1] - offsets[g], left = 0;
        for (size_t p = 0; p < here; p++) {
            uint32_t rank = at[p];
            at[left] = rank;
            left += rank != UNIQUE;
        }
        sort(at, spare, left);
        kept[g] = left;
    }
    Py_END_ALLOW_THREADS
    free(spare);
    return done(&v, Py_NewRef(Py_None));
}

static PyObject *pack(PyObject *self, PyObject *args) {
    PyObject *o[3];
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOO", &o[0], &o[1], &o[2])) return NULL;
    if (!take(&v, o, "Iqq")) return misfit(&v);
    uint32_t *ids = start(&v, 0);
    const int64_t *offsets = start(&v, 1), *kept = start(&v, 2);
    size_t sets = v.sizes[2];
    int fine = sound(offsets, v.sizes[1], v.sizes[0]) && v.sizes[1] == sets + 1;
    for (size_t g = 0; fine && g < sets; g++)
        fine = kept[g] >= 0 && kept[g] <= offsets[g + 1] - offsets[g];
    if (!fine) return misfit(&v);
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0, to = 0; g < sets; to += kept[g++])
        memmove(ids + to, ids + offsets[g], kept[g] * 4);
    Py_END_ALLOW_THREADS
    return done(&v, Py_NewRef(Py_None));
}

/* ---- postings ------------------------------------------------------------------------------ */

static PyObject *mark(PyObject *self, PyObject *args) {
    PyObject *o[4];
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOOO", &o[0], &o[1], &o[2], &o[3])) return NULL;
    if (!take(&v, o, "iqqB")) return misfit(&v);
    const uint32_t *ranks = start(&v, 0);
    const int64_t *offsets = start(&v, 1), *prefixes = start(&v, 2);
    uint8_t *wanted = start(&v, 3);
    size_t sets = v.sizes[2], bytes = v.sizes[3];
    int fine = sound(offsets, v.sizes[1], v.sizes[0]) && v.sizes[1] == sets + 1;
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0; fine && g < sets; g++) {
        const uint32_t *at = ranks + offsets[g];
        fine = prefixes[g] >= 0 && prefixes[g] <= offsets[g + 1] - offsets[g];
        for (int64_t p = 0; fine && p < prefixes[g]; p++) {
            fine = at[p] / 8 < bytes;
            if (fine) wanted[at[p] / 8] |= 1 << at[p] % 8;
        }
    }
    Py_END_ALLOW_THREADS
    return fine ? done(&v, Py_NewRef(Py_None)) : misfit(&v);
}

/* Twice for each block of sets: without room for any posting, where those of each rank will begin
 * is left in starts, one place further on; then they are written, which moves starts back. */
static PyObject *post(PyObject *self, PyObject *args) {
    PyObject *o[6];
    Py_ssize_t first, last;
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOOOOOnn", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5], &first,
                          &last))
        return NULL;
    if (!take(&v, o, "iqbbII")) return misfit(&v);
    const uint32_t *ranks = start(&v, 0);
    const int64_t *offsets = start(&v, 1);
    const uint8_t *covers = start(&v, 2), *wanted = start(&v, 3);
    uint32_t *starts = start(&v, 4), *postings = start(&v, 5);
    size_t sets = v.sizes[2], distinct = v.sizes[4] - 1, room = v.sizes[5];
    int fine = sound(offsets, v.sizes[1], v.sizes[0]) && v.sizes[1] == sets + 1 && first >= 0 &&
               first <= last && (size_t)last <= sets && v.sizes[4] > 0 &&
               v.sizes[3] * 8 >= distinct;
    uint64_t sum = 0;
    Py_BEGIN_ALLOW_THREADS
    if (fine && room == 0) memset(starts, 0, (distinct + 1) * 4);
    for (Py_ssize_t g = first; fine && g < last; g++) {
        if (!covers[g]) continue;
        for (int64_t p = offsets[g]; p < offsets[g + 1]; p++) {
            uint32_t rank = ranks[p];
            if (!(fine = rank < distinct)) break;
            if (!(wanted[rank / 8] >> rank % 8 & 1)) continue;
            uint32_t at = starts[rank + 1]++;
            if (room == 0) continue;
            if (!(fine = at < room)) break;
            postings[at] = (uint32_t)g;
        }
    }
    for (size_t rank = 1; fine && room == 0 && rank <= distinct; rank++) {
        uint32_t here = starts[rank];
        starts[rank] = (uint32_t)sum;
        sum += here;
    }
    Py_END_ALLOW_THREADS
    if (!fine || sum > UINT32_MAX) return misfit(&v);
    return done(&v, PyLong_FromUnsignedLongLong(sum));
}

/* ---- the join ------------------------------------------------------------------------------ */

typedef struct {
    int64_t p, q;
} Share;

static int64_t share(Share s, int64_t size) { return (s.p * size + s.q - 1) / s.q; }

/* How many two sorted arrays share, or -1 as soon as it is clear that, with some already known,
 * they are fewer than needed. */
static int64_t common(const uint32_t *a, const uint32_t *a_end, const uint32_t *b,
                      const uint32_t *b_end, int64_t known, int64_t need) {
    while (a < a_end && b < b_end) {
        int64_t left_a = a_end - a, left_b = b_end - b, least = left_a < left_b ? left_a : left_b;
        if (known + least < need) return -1;
        if (least > 64) least = 64;
        for (; least > 0; least--) {
            uint32_t x = *a, y = *b;
            known += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
    return known < need ? -1 : known;
}

static const uint32_t *at_least(const uint32_t *low, const uint32_t *high, uint32_t value) {
    while (low < high) {
        const uint32_t *middle = low + (high - low) / 2;
        if (*middle < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

typedef struct {
    int32_t *at;
    size_t size, room;
} Triples;

static int keep(Triples *t, uint32_t i, uint32_t j, int64_t inter) {
    if (t->size + 3 > t->room) {
        size_t room = t->room ? t->room * 2 : 3 << 10;
        int32_t *at = realloc(t->at, room * 4);
        if (at == NULL) return 0;
        t->at = at;
        t->room = room;
    }
    t->at[t->size++] = (int32_t)i;
    t->at[t->size++] = (int32_t)j;
    t->at[t->size++] = (int32_t)inter;
    return 1;
}

typedef struct {
    const int64_t *offsets, *sizes, *prefixes;
    const uint32_t *ranks, *lows, *highs, *starts, *postings;
    size_t distinct;
    Share of_i, of_j, of_both;
    uint32_t *counts, *touched;
} Probe;

/* Which sets the rarest items of one are in; how often is left in counts. */
static size_t touch(const Probe *q, size_t u, uint64_t *looked) {
    const uint32_t *at = q->ranks + q->offsets[u];
    uint32_t low = q->lows[u], high = q->highs[u];
    size_t found = 0;
    for (int64_t p = 0; p < q->prefixes[u]; p++) {
        if (at[p] >= q->distinct) continue;
        if (p + 8 < q->prefixes[u] && at[p + 8] < q->distinct) PREFETCH(q->starts + at[p + 8]);
        const uint32_t *from = q->postings + q->starts[at[p]];
        const uint32_t *to = q->postings + q->starts[at[p] + 1];
        if (to - from > 8) { /* in the order of positions: a window is a range */
            from = at_least(from, to, low);
            to = at_least(from, to, high);
        }
        *looked += to - from;
        for (; from < to; from++) {
            uint32_t other = *from;
            if (other < low || other >= high) continue;
            if (q->counts[other]++ == 0) q->touched[found++] = other;
        }
    }
    return found;
}

/* What a set and a candidate have in common, of which the part in the prefix is known; or -1. */
static int64_t verified(const Probe *q, size_t u, uint32_t other, int64_t known) {
    int64_t a = q->sizes[u], b = q->sizes[other];
    int64_t need = share(q->of_i, a), more = share(q->of_j, b), both = share(q->of_both, a + b);
    if (more > need) need = more;
    if (both > need) need = both;
    const uint32_t *rest = q->ranks + q->offsets[u] + q->prefixes[u];
    const uint32_t *end = q->ranks + q->offsets[u + 1];
    const uint32_t *from = q->ranks + q->offsets[other];
    const uint32_t *to = q->ranks + q->offsets[other + 1];
    if (known + (end - rest) < need || to - from < need) return -1;
    if (rest < end) from = at_least(from, to, *rest);
    return common(rest, end, from, to, known, need);
}

static int probe_all(const Probe *q, Py_ssize_t *first, Py_ssize_t last, uint64_t most,
                     uint64_t *looked, uint64_t *candidates, Triples *found) {
    for (; *first < last && *looked + found->size < most; ++*first) {
        size_t u = *first;
        if (q->prefixes[u] == 0) continue;
        size_t count = touch(q, u, looked);
        for (size_t k = 0; k < count; k++) {
            uint32_t other = q->touched[k];
            int64_t known = q->counts[other];
            q->counts[other] = 0;
            if (other == u) continue;
            ++*candidates;
            int64_t inter = verified(q, u, other, known);
            if (inter >= 0 && !keep(found, (uint32_t)u, other, inter)) return 0;
        }
        *looked += 16 * count;
    }
    return 1;
}

static PyObject *probe(PyObject *self, PyObject *args) {
    PyObject *o[8];
    Py_ssize_t first, last;
    unsigned long long most;
    Probe q;
    Arrays v;
    if (!PyArg_ParseTuple(args, "OOOOOOOO(LLLLLL)nnK", &o[0], &o[1], &o[2], &o[3], &o[4], &o[5],
                          &o[6], &o[7], &q.of_i.p, &q.of_i.q, &q.of_j.p, &q.of_j.q, &q.of_both.p,
                          &q.of_both.q, &first, &last, &most))
        return NULL;
    if (!take(&v, o, "iqqqiiii")) return misfit(&v);
    q.ranks = start(&v, 0);
    q.offsets = start(&v, 1);
    q.sizes = start(&v, 2);
    q.prefixes = start(&v, 3);
    q.lows = start(&v, 4);
    q.highs = start(&v, 5);
    q.starts = start(&v, 6);
    q.postings = start(&v, 7);
    q.distinct = v.sizes[6] - 1;
    size_t sets = v.sizes[1] - 1;
    int fine = sound(q.offsets, v.sizes[1], v.sizes[0]) && v.sizes[6] > 0 &&
               q.starts[q.distinct] <= v.sizes[7] && first >= 0 && first <= last &&
               (size_t)last <= sets && q.of_i.q > 0 && q.of_j.q > 0 && q.of_both.q > 0;
    for (int at = 2; at < 6; at++) fine = fine && v.sizes[at] == sets;
    for (size_t g = first; fine && g < (size_t)last; g++)
        fine = q.prefixes[g] >= 0 && q.prefixes[g] <= q.offsets[g + 1] - q.offsets[g] &&
               q.highs[g] <= sets;
    if (!fine) return misfit(&v);
    q.counts = calloc(sets + 1, 4);
    q.touched = malloc((sets + 1) * 4);
    Triples found = {NULL, 0, 0};
    uint64_t looked = 0, candidates = 0;
    fine = q.counts != NULL && q.touched != NULL;
    Py_BEGIN_ALLOW_THREADS
    if (fine) fine = probe_all(&q, &first, last, most, &looked, &candidates, &found);
    Py_END_ALLOW_THREADS
    PyObject *answer =
        fine ? Py_BuildValue("(y#nKK)", found.at ? (char *)found.at : "",
                             (Py_ssize_t)found.size * 4, first, (unsigned long long)looked,
                             (unsigned long long)candidates)
             : PyErr_NoMemory();
    free(found.at);
    free(q.counts);
    free(q.touched);
    return done(&v, answer);
}

static PyMethodDef METHODS[] = {
    {"digests", digests, METH_VARARGS, "Two numbers of each set."},
    {"overlaps", overlaps, METH_VARARGS, "How many items pairs of sets share."},
    {"number", number, METH_VARARGS, "Number the items of a range, and count their sets."},
    {"rank", rank, METH_O, "Counts to ranks."},
    {"relabel", relabel, METH_VARARGS, "Numbers to ranks."},
    {"arrange", arrange, METH_VARARGS, "Sort the ranks of sets."},
    {"pack", pack, METH_VARARGS, "Move ranks together."},
    {"mark", mark, METH_VARARGS, "Which ranks will be asked for."},
    {"post", post, METH_VARARGS, "Write postings."},
    {"probe", probe, METH_VARARGS, "Find covering sets."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "asof.cover.join._join", "The exact coverage join.", 0, METHODS,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__join(void) { return PyModule_Create(&MODULE); }
