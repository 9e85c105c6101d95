/* Arrays that Python gives: taken all at once, checked before anything is read, and let go. */
#ifndef ASOF_ARRAYS_H
#define ASOF_ARRAYS_H
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ARRAYS 11
typedef struct {
    Py_buffer views[MOST_ARRAYS];
    size_t sizes[MOST_ARRAYS]; /* of each array, in items */
    int held;
} Arrays;

static inline void let_go(Arrays *arrays) {
    while (arrays->held > 0) PyBuffer_Release(&arrays->views[--arrays->held]);
}

/* One array for each letter: q of 8 bytes, i of 4, b of 1, a capital for one that is written to.
 * 0 with an error set if one is none; what was taken until then is still to be let go. */
static inline int take(Arrays *arrays, PyObject *const *given, const char *kinds) {
    for (arrays->held = 0; kinds[arrays->held]; arrays->held++) {
        int at = arrays->held, kind = kinds[at] | 32;
        size_t size = kind == 'q' ? 8 : kind == 'i' ? 4 : 1;
        Py_buffer *view = &arrays->views[at];
        int flags = kinds[at] == kind ? PyBUF_SIMPLE : PyBUF_WRITABLE;
        if (PyObject_GetBuffer(given[at], view, flags) < 0) return 0;
        arrays->sizes[at] = view->len / size;
        /* An empty one may begin anywhere. */
        if (view->len == 0 || (view->len % size == 0 && (uintptr_t)view->buf % size == 0)) continue;
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "an array that is not of whole, aligned items");
        return 0;
    }
    return 1;
}

static inline void *start(const Arrays *arrays, int at) {
    static uint64_t nothing;
    return arrays->views[at].buf != NULL ? arrays->views[at].buf : &nothing;
}

static inline PyObject *misfit(Arrays *arrays) {
    let_go(arrays);
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "arrays that do not fit together");
    return NULL;
}

/* Whether offsets never fall and stay within what there is. */
static inline int sound(const int64_t *offsets, size_t count, size_t size) {
    if (count == 0 || offsets[0] < 0 || (uint64_t)offsets[count - 1] > size) return 0;
    for (size_t d = 1; d < count; d++)
        if (offsets[d] < offsets[d - 1]) return 0;
    return 1;
}

static inline PyObject *done(Arrays *arrays, PyObject *answer) {
    let_go(arrays);
    return answer;
}
#endif
