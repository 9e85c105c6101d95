/* The exact coverage join in C: the compiled twin of fallback.py.
 *
 *   digests(items, offsets)              -> two uint64s of each set: equal for equal sets.
 *   same(items, offsets, a, b)           -> a byte of each pair: whether the sets are equal.
 *   overlaps(items, offsets, i, j)       -> int32s: how many items each pair has in common.
 *   seek(items, begins, ends, limit, cursors)        put cursors at the first item >= limit.
 *   number(items, ends, cursors, limit, parts, covers, places, ids, scratch)
 *                                        -> uint32s: how many sets have each item below a limit.
 *   rank(counts)                         -> how many ranks: counts become ranks, the rarest first.
 *   relabel(items, ends, cursors, limit, table, places, ids)     ids become ranks.
 *   arrange(ids, places, first, last, kept)          sort the ranks of each set, without uniques.
 *   pack(ids, places, kept)              move them together.
 *   mark(ranks, offsets, prefixes, wanted)           a bit for each rank that will be asked for.
 *   tally(ranks, offsets, first, last, covers, wanted, starts) -> postings there will be.
 *   post(ranks, offsets, first, last, covers, wanted, starts, postings)
 *   probe(...)                           -> int32 triples: covered, covering, common; where to go on.
 *
 * What they are for is told in ranking.py and join.py. Lengths are checked before anything is read;
 * the long loops run without the interpreter's lock, so that two threads use two cores.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- arguments ----------------------------------------------------------------------------- */

#define MOST_VIEWS 10
typedef struct {
    Py_buffer views[MOST_VIEWS];
    int held;
} Views;

static void release(Views *v) {
    while (v->held > 0) PyBuffer_Release(&v->views[--v->held]);
}

/* The next array: its start, and how many it has of a size. NULL with an error set if it is none. */
static void *array(Views *v, PyObject *given, size_t size, int writable, size_t *count) {
    Py_buffer *view = &v->views[v->held];
    if (PyObject_GetBuffer(given, view, writable ? PyBUF_WRITABLE : PyBUF_SIMPLE) < 0) return NULL;
    v->held++;
    if (view->len % size || (uintptr_t)view->buf % size) {
        PyErr_SetString(PyExc_ValueError, "an array of another type");
        return NULL;
    }
    *count = view->len / size;
    static uint64_t nothing;
    return view->buf != NULL ? view->buf : &nothing;
}

static PyObject *misfit(Views *v) {
    release(v);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
    return NULL;
}

/* Whether offsets never fall and stay within what there is. */
static int sound(const int64_t *offsets, size_t count, size_t size) {
    if (count == 0 || offsets[0] < 0 || (size_t)offsets[count - 1] > size) return 0;
    for (size_t d = 1; d < count; d++)
        if (offsets[d] < offsets[d - 1]) return 0;
    return 1;
}

static int within(const int64_t *documents, size_t count, size_t most) {
    for (size_t p = 0; p < count; p++)
        if (documents[p] < 0 || (size_t)documents[p] >= most) return 0;
    return 1;
}

/* ---- whole sets ---------------------------------------------------------------------------- */

static PyObject *digests(PyObject *self, PyObject *args) {
    PyObject *of_items, *of_offsets;
    if (!PyArg_ParseTuple(args, "OO", &of_items, &of_offsets)) return NULL;
    Views v = {.held = 0};
    size_t size, count;
    const uint64_t *items = array(&v, of_items, 8, 0, &size);
    const int64_t *offsets = items ? array(&v, of_offsets, 8, 0, &count) : NULL;
    if (offsets == NULL || !sound(offsets, count, size)) return misfit(&v);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, (count - 1) * 16);
    if (answer != NULL) {
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
    }
    release(&v);
    return answer;
}

typedef struct {
    Views v;
    const uint64_t *items;
    const int64_t *offsets, *a, *b;
    size_t pairs;
} Pairs;

static int open_pairs(PyObject *args, Pairs *p) {
    PyObject *of_items, *of_offsets, *of_a, *of_b;
    size_t size, count, others;
    p->v.held = 0;
    if (!PyArg_ParseTuple(args, "OOOO", &of_items, &of_offsets, &of_a, &of_b)) return 0;
    if ((p->items = array(&p->v, of_items, 8, 0, &size)) == NULL) return 0;
    if ((p->offsets = array(&p->v, of_offsets, 8, 0, &count)) == NULL) return 0;
    if ((p->a = array(&p->v, of_a, 8, 0, &p->pairs)) == NULL) return 0;
    if ((p->b = array(&p->v, of_b, 8, 0, &others)) == NULL) return 0;
    return sound(p->offsets, count, size) && others == p->pairs &&
           within(p->a, p->pairs, count - 1) && within(p->b, p->pairs, count - 1);
}

static PyObject *same(PyObject *self, PyObject *args) {
    Pairs p;
    if (!open_pairs(args, &p)) return misfit(&p.v);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, p.pairs);
    if (answer != NULL) {
        char *out = PyBytes_AS_STRING(answer);
        Py_BEGIN_ALLOW_THREADS
        for (size_t k = 0; k < p.pairs; k++) {
            int64_t at = p.offsets[p.a[k]], other = p.offsets[p.b[k]];
            int64_t size = p.offsets[p.a[k] + 1] - at;
            out[k] = size == p.offsets[p.b[k] + 1] - other &&
                     memcmp(p.items + at, p.items + other, size * 8) == 0;
        }
        Py_END_ALLOW_THREADS
    }
    release(&p.v);
    return answer;
}

static PyObject *overlaps(PyObject *self, PyObject *args) {
    Pairs p;
    if (!open_pairs(args, &p)) return misfit(&p.v);
    PyObject *answer = PyBytes_FromStringAndSize(NULL, p.pairs * 4);
    if (answer != NULL) {
        int32_t *out = (int32_t *)PyBytes_AS_STRING(answer);
        Py_BEGIN_ALLOW_THREADS
        for (size_t k = 0; k < p.pairs; k++) {
            const uint64_t *a = p.items + p.offsets[p.a[k]], *b = p.items + p.offsets[p.b[k]];
            const uint64_t *a_end = p.items + p.offsets[p.a[k] + 1];
            const uint64_t *b_end = p.items + p.offsets[p.b[k] + 1];
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
    }
    release(&p.v);
    return answer;
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
    Views v;
    const uint64_t *items;
    const int64_t *ends, *places;
    int64_t *cursors;
    uint32_t *ids;
    uint64_t limit; /* the last item of the range: a limit behind it could not be written */
    size_t count;
} Walk;

/* Cursors lie before their ends, and places, less the cursor's origin, within the ids. */
static int open_walk(Walk *w, PyObject *of_items, PyObject *of_ends, PyObject *of_cursors,
                     PyObject *of_places, PyObject *of_ids) {
    size_t size, ends, places, ids;
    if ((w->items = array(&w->v, of_items, 8, 0, &size)) == NULL) return 0;
    if ((w->ends = array(&w->v, of_ends, 8, 0, &ends)) == NULL) return 0;
    if ((w->cursors = array(&w->v, of_cursors, 8, 1, &w->count)) == NULL) return 0;
    if ((w->places = array(&w->v, of_places, 8, 0, &places)) == NULL) return 0;
    if ((w->ids = array(&w->v, of_ids, 4, 1, &ids)) == NULL) return 0;
    if (ends != w->count || places != w->count) return 0;
    for (size_t g = 0; g < w->count; g++) /* places: where the last of a set's ids is, plus one */
        if (w->cursors[g] < 0 || w->cursors[g] > w->ends[g] || (size_t)w->ends[g] > size ||
            (size_t)w->places[g] > ids || w->places[g] < w->ends[g] - w->cursors[g])
            return 0;
    return 1;
}

static PyObject *seek(PyObject *self, PyObject *args) {
    PyObject *of_items, *of_begins, *of_ends, *of_cursors;
    unsigned long long limit;
    size_t size, begins, ends, count;
    Views v = {.held = 0};
    if (!PyArg_ParseTuple(args, "OOOKO", &of_items, &of_begins, &of_ends, &limit, &of_cursors))
        return NULL;
    const uint64_t *items = array(&v, of_items, 8, 0, &size);
    const int64_t *from = items ? array(&v, of_begins, 8, 0, &begins) : NULL;
    const int64_t *to = from ? array(&v, of_ends, 8, 0, &ends) : NULL;
    int64_t *cursors = to ? array(&v, of_cursors, 8, 1, &count) : NULL;
    if (cursors == NULL || begins != count || ends != count) return misfit(&v);
    for (size_t g = 0; g < count; g++)
        if (from[g] < 0 || from[g] > to[g] || (size_t)to[g] > size) return misfit(&v);
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0; g < count; g++) {
        int64_t low = from[g], high = to[g];
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (items[middle] < limit) low = middle + 1;
            else high = middle;
        }
        cursors[g] = low;
    }
    Py_END_ALLOW_THREADS
    release(&v);
    Py_RETURN_NONE;
}

static PyObject *number(PyObject *self, PyObject *args) {
    PyObject *of_items, *of_ends, *of_cursors, *of_parts, *of_covers, *of_places, *of_ids, *of_room;
    unsigned long long last;
    Walk w = {.v = {.held = 0}};
    if (!PyArg_ParseTuple(args, "OOOKOOOOO", &of_items, &of_ends, &of_cursors, &last, &of_parts,
                          &of_covers, &of_places, &of_ids, &of_room))
        return NULL;
    size_t parts_count, covers_count, bytes;
    if (!open_walk(&w, of_items, of_ends, of_cursors, of_places, of_ids)) return misfit(&w.v);
    const uint32_t *parts = array(&w.v, of_parts, 4, 0, &parts_count);
    const uint8_t *covers = parts ? array(&w.v, of_covers, 1, 0, &covers_count) : NULL;
    void *scratch = covers ? array(&w.v, of_room, 8, 1, &bytes) : NULL;
    if (scratch == NULL || parts_count != w.count || covers_count != w.count) return misfit(&w.v);
    bytes *= 8;
    Table t;
    int fine = open_table(&t, scratch, bytes);
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
    release(&w.v);
    return answer;
}

/* By counting: items that as many sets have keep their order; beyond 65,535 sets all are alike. */
static PyObject *rank(PyObject *self, PyObject *args) {
    PyObject *of_counts;
    Views v = {.held = 0};
    size_t size;
    if (!PyArg_ParseTuple(args, "O", &of_counts)) return NULL;
    uint32_t *counts = array(&v, of_counts, 4, 1, &size);
    if (counts == NULL) return misfit(&v);
    uint32_t *next = calloc(65536, 4), sum = 0;
    if (next == NULL) {
        release(&v);
        return PyErr_NoMemory();
    }
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
    release(&v);
    return PyLong_FromUnsignedLong(sum);
}

static PyObject *relabel(PyObject *self, PyObject *args) {
    PyObject *of_items, *of_ends, *of_cursors, *of_table, *of_places, *of_ids;
    unsigned long long last;
    Walk w = {.v = {.held = 0}};
    size_t known;
    if (!PyArg_ParseTuple(args, "OOOKOOO", &of_items, &of_ends, &of_cursors, &last, &of_table,
                          &of_places, &of_ids))
        return NULL;
    if (!open_walk(&w, of_items, of_ends, of_cursors, of_places, of_ids)) return misfit(&w.v);
    const uint32_t *table = array(&w.v, of_table, 4, 0, &known);
    if (table == NULL) return misfit(&w.v);
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
    release(&w.v);
    Py_RETURN_NONE;
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
    PyObject *of_ids, *of_offsets, *of_kept;
    Py_ssize_t first, last;
    Views v = {.held = 0};
    size_t size, count, sets;
    if (!PyArg_ParseTuple(args, "OOnnO", &of_ids, &of_offsets, &first, &last, &of_kept))
        return NULL;
    uint32_t *ids = array(&v, of_ids, 4, 1, &size);
    const int64_t *offsets = ids ? array(&v, of_offsets, 8, 0, &count) : NULL;
    int64_t *kept = offsets ? array(&v, of_kept, 8, 1, &sets) : NULL;
    if (kept == NULL || !sound(offsets, count, size) || sets != count - 1 || first < 0 ||
        first > last || (size_t)last > sets)
        return misfit(&v);
    int64_t largest = 0;
    for (Py_ssize_t g = first; g < last; g++)
        if (offsets[g + 1] - offsets[g] > largest) largest = offsets[g + 1] - offsets[g];
    uint32_t *spare = malloc(largest * 4 + 4);
    if (spare == NULL) {
        release(&v);
        return PyErr_NoMemory();
    }
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
    release(&v);
    Py_RETURN_NONE;
}

static PyObject *pack(PyObject *self, PyObject *args) {
    PyObject *of_ids, *of_offsets, *of_kept;
    Views v = {.held = 0};
    size_t size, count, sets;
    if (!PyArg_ParseTuple(args, "OOO", &of_ids, &of_offsets, &of_kept)) return NULL;
    uint32_t *ids = array(&v, of_ids, 4, 1, &size);
    const int64_t *offsets = ids ? array(&v, of_offsets, 8, 0, &count) : NULL;
    const int64_t *kept = offsets ? array(&v, of_kept, 8, 0, &sets) : NULL;
    if (kept == NULL || !sound(offsets, count, size) || sets != count - 1) return misfit(&v);
    for (size_t g = 0; g < sets; g++)
        if (kept[g] < 0 || kept[g] > offsets[g + 1] - offsets[g]) return misfit(&v);
    int64_t to = 0;
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0; g < sets; g++) {
        memmove(ids + to, ids + offsets[g], kept[g] * 4);
        to += kept[g];
    }
    Py_END_ALLOW_THREADS
    release(&v);
    Py_RETURN_NONE;
}

/* ---- postings ------------------------------------------------------------------------------ */

typedef struct {
    Views v;
    const uint32_t *ranks;
    const int64_t *offsets;
    size_t size, sets;
} Ranked;

static int open_ranked(Ranked *r, PyObject *of_ranks, PyObject *of_offsets) {
    size_t count;
    r->v.held = 0;
    if ((r->ranks = array(&r->v, of_ranks, 4, 0, &r->size)) == NULL) return 0;
    if ((r->offsets = array(&r->v, of_offsets, 8, 0, &count)) == NULL) return 0;
    r->sets = count - 1;
    return sound(r->offsets, count, r->size);
}

static PyObject *mark(PyObject *self, PyObject *args) {
    PyObject *of_ranks, *of_offsets, *of_prefixes, *of_wanted;
    Ranked r = {.v = {.held = 0}};
    size_t sets, bytes;
    if (!PyArg_ParseTuple(args, "OOOO", &of_ranks, &of_offsets, &of_prefixes, &of_wanted))
        return NULL;
    if (!open_ranked(&r, of_ranks, of_offsets)) return misfit(&r.v);
    const int64_t *prefixes = array(&r.v, of_prefixes, 8, 0, &sets);
    uint8_t *wanted = prefixes ? array(&r.v, of_wanted, 1, 1, &bytes) : NULL;
    if (wanted == NULL || sets != r.sets) return misfit(&r.v);
    int fine = 1;
    Py_BEGIN_ALLOW_THREADS
    for (size_t g = 0; g < sets && fine; g++) {
        const uint32_t *at = r.ranks + r.offsets[g];
        fine = prefixes[g] >= 0 && prefixes[g] <= r.offsets[g + 1] - r.offsets[g];
        for (int64_t p = 0; fine && p < prefixes[g]; p++) {
            fine = at[p] / 8 < bytes;
            if (fine) wanted[at[p] / 8] |= 1 << at[p] % 8;
        }
    }
    Py_END_ALLOW_THREADS
    if (!fine) return misfit(&r.v);
    release(&r.v);
    Py_RETURN_NONE;
}

/* What tally and post have in common; starts has a place more than there are ranks. */
static int open_block(Ranked *r, PyObject *args, const uint8_t **covers, const uint8_t **wanted,
                      uint32_t **starts, size_t *ranks, Py_ssize_t *first, Py_ssize_t *last,
                      PyObject **of_postings) {
    PyObject *of_ranks, *of_offsets, *of_covers, *of_wanted, *of_starts;
    size_t sets, bytes;
    *of_postings = NULL;
    r->v.held = 0;
    if (!PyArg_ParseTuple(args, "OOnnOOO|O", &of_ranks, &of_offsets, first, last, &of_covers,
                          &of_wanted, &of_starts, of_postings))
        return 0;
    if (!open_ranked(r, of_ranks, of_offsets)) return 0;
    if ((*covers = array(&r->v, of_covers, 1, 0, &sets)) == NULL) return 0;
    if ((*wanted = array(&r->v, of_wanted, 1, 0, &bytes)) == NULL) return 0;
    if ((*starts = array(&r->v, of_starts, 4, 1, ranks)) == NULL) return 0;
    return sets == r->sets && *first >= 0 && *first <= *last && (size_t)*last <= sets &&
           *ranks > 0 && bytes * 8 >= --*ranks;
}

#define WANTED(rank) (wanted[(rank) / 8] >> (rank) % 8 & 1)

static PyObject *tally(PyObject *self, PyObject *args) {
    Ranked r;
    const uint8_t *covers, *wanted;
    uint32_t *starts;
    size_t ranks;
    Py_ssize_t first, last;
    PyObject *none;
    if (!open_block(&r, args, &covers, &wanted, &starts, &ranks, &first, &last, &none))
        return misfit(&r.v);
    uint64_t sum = 0;
    int fine = 1;
    Py_BEGIN_ALLOW_THREADS
    memset(starts, 0, (ranks + 1) * 4);
    for (Py_ssize_t g = first; g < last; g++) {
        if (!covers[g]) continue;
        for (int64_t p = r.offsets[g]; p < r.offsets[g + 1]; p++) {
            uint32_t rank = r.ranks[p];
            if (rank >= ranks) {
                fine = 0;
                break;
            }
            if (WANTED(rank)) starts[rank + 1]++;
        }
    }
    for (size_t rank = 1; rank <= ranks; rank++) { /* the start of rank - 1: post will move it on */
        uint32_t here = starts[rank];
        starts[rank] = (uint32_t)sum;
        sum += here;
    }
    Py_END_ALLOW_THREADS
    if (!fine || sum > UINT32_MAX) return misfit(&r.v);
    release(&r.v);
    return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *post(PyObject *self, PyObject *args) {
    Ranked r;
    const uint8_t *covers, *wanted;
    uint32_t *starts;
    size_t ranks, room;
    Py_ssize_t first, last;
    PyObject *of_postings;
    if (!open_block(&r, args, &covers, &wanted, &starts, &ranks, &first, &last, &of_postings) ||
        of_postings == NULL)
        return misfit(&r.v);
    uint32_t *postings = array(&r.v, of_postings, 4, 1, &room);
    if (postings == NULL) return misfit(&r.v);
    int fine = 1;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t g = first; fine && g < last; g++) {
        if (!covers[g]) continue;
        for (int64_t p = r.offsets[g]; p < r.offsets[g + 1]; p++) {
            uint32_t rank = r.ranks[p];
            if (rank >= ranks || !WANTED(rank)) continue;
            fine = starts[rank + 1] < room;
            if (!fine) break;
            postings[starts[rank + 1]++] = (uint32_t)g;
        }
    }
    Py_END_ALLOW_THREADS
    if (!fine) return misfit(&r.v);
    release(&r.v);
    Py_RETURN_NONE;
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
    Ranked r;
    const int64_t *sizes, *prefixes;
    const uint32_t *lows, *highs, *starts, *postings;
    size_t ranks;
    Share of_i, of_j, of_both;
    uint32_t *counts, *touched;
} Probe;

/* Which sets the rarest items of one are in; how often is left in counts. */
static size_t touch(const Probe *q, size_t u, uint64_t *looked) {
    const uint32_t *at = q->r.ranks + q->r.offsets[u];
    uint32_t low = q->lows[u], high = q->highs[u];
    size_t found = 0;
    for (int64_t p = 0; p < q->prefixes[u]; p++) {
        if (at[p] >= q->ranks) continue;
        if (p + 8 < q->prefixes[u] && at[p + 8] < q->ranks) PREFETCH(q->starts + at[p + 8]);
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
    const uint32_t *rest = q->r.ranks + q->r.offsets[u] + q->prefixes[u];
    const uint32_t *end = q->r.ranks + q->r.offsets[u + 1];
    const uint32_t *from = q->r.ranks + q->r.offsets[other];
    const uint32_t *to = q->r.ranks + q->r.offsets[other + 1];
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
    PyObject *ranks, *offsets, *sizes, *prefixes, *lows, *highs, *starts, *postings;
    Py_ssize_t first, last;
    unsigned long long most;
    Probe q = {.r = {.v = {.held = 0}}};
    size_t n_sizes, n_prefixes, n_lows, n_highs, n_postings;
    if (!PyArg_ParseTuple(args, "OOOOOOOO(LLLLLL)nnK", &ranks, &offsets, &sizes, &prefixes, &lows,
                          &highs, &starts, &postings, &q.of_i.p, &q.of_i.q, &q.of_j.p, &q.of_j.q,
                          &q.of_both.p, &q.of_both.q, &first, &last, &most))
        return NULL;
    Views *v = &q.r.v;
    if (!open_ranked(&q.r, ranks, offsets) ||
        (q.sizes = array(v, sizes, 8, 0, &n_sizes)) == NULL ||
        (q.prefixes = array(v, prefixes, 8, 0, &n_prefixes)) == NULL ||
        (q.lows = array(v, lows, 4, 0, &n_lows)) == NULL ||
        (q.highs = array(v, highs, 4, 0, &n_highs)) == NULL ||
        (q.starts = array(v, starts, 4, 0, &q.ranks)) == NULL ||
        (q.postings = array(v, postings, 4, 0, &n_postings)) == NULL)
        return misfit(v);
    size_t sets = q.r.sets;
    int fine = n_sizes == sets && n_prefixes == sets && n_lows == sets && n_highs == sets &&
               q.ranks > 0 && q.starts[--q.ranks] <= n_postings && first >= 0 && first <= last &&
               (size_t)last <= sets && q.of_i.q > 0 && q.of_j.q > 0 && q.of_both.q > 0;
    for (size_t g = first; fine && g < (size_t)last; g++)
        fine = q.prefixes[g] >= 0 && q.prefixes[g] <= q.r.offsets[g + 1] - q.r.offsets[g] &&
               q.highs[g] <= sets;
    if (!fine) return misfit(v);
    q.counts = calloc(sets + 1, 4);
    q.touched = malloc((sets + 1) * 4);
    Triples found = {NULL, 0, 0};
    uint64_t looked = 0, candidates = 0;
    fine = q.counts != NULL && q.touched != NULL;
    Py_BEGIN_ALLOW_THREADS
    if (fine) fine = probe_all(&q, &first, last, most, &looked, &candidates, &found);
    Py_END_ALLOW_THREADS
    PyObject *answer =
        fine ? Py_BuildValue("(y#nKK)", found.at ? (char *)found.at : "", (Py_ssize_t)found.size * 4, first,
                             (unsigned long long)looked, (unsigned long long)candidates)
             : PyErr_NoMemory();
    free(found.at);
    free(q.counts);
    free(q.touched);
    release(v);
    return answer;
}

static PyMethodDef METHODS[] = {
    {"digests", digests, METH_VARARGS, "Two numbers of each set."},
    {"same", same, METH_VARARGS, "Whether sets are equal."},
    {"overlaps", overlaps, METH_VARARGS, "How many items pairs of sets share."},
    {"seek", seek, METH_VARARGS, "Cursors at a limit."},
    {"number", number, METH_VARARGS, "Number the items of a range, and count their sets."},
    {"rank", rank, METH_VARARGS, "Counts to ranks."},
    {"relabel", relabel, METH_VARARGS, "Numbers to ranks."},
    {"arrange", arrange, METH_VARARGS, "Sort the ranks of sets."},
    {"pack", pack, METH_VARARGS, "Move ranks together."},
    {"mark", mark, METH_VARARGS, "Which ranks will be asked for."},
    {"tally", tally, METH_VARARGS, "Where postings begin."},
    {"post", post, METH_VARARGS, "Write postings."},
    {"probe", probe, METH_VARARGS, "Find covering sets."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "asof.cover.join._join", "The exact coverage join.", 0, METHODS,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__join(void) { return PyModule_Create(&MODULE); }
