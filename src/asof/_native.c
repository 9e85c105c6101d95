/* What every record, link and page goes through, in C: the compiled twin of some Python (ADR 7).
 *
 *   response(content) -> (date, record_id, url, status, media_type, digest, size, etag,
 *                         last_modified, truncated) of a plainly written WARC record, or () for a
 *                         GET request or metadata record that goes with a response, or None.
 *   digests(content)  -> (kind, date, block_start, payload_start, block_digest, payload_digest) of
 *                         one, the digests as base32, or None.
 *   find_member(data, start) -> where the next gzip member may begin, or -1.
 *   base32(digest)    -> RFC 4648 base32.
 *   plain_head(data)  -> what the head of an answer says that is plainly written, or None.
 *   unknown(items, server, folder, known) -> the references that mean a URL which is not known.
 *   tags(view, most, link) -> the tags of HTML that may refer to something.
 *
 * Content is hostile. Nothing is read outside [p, end); every cursor moves forward; nothing is
 * allocated but the values that are given back. What is not in the plainest form there is, is None:
 * the careful readers in Python decide about it, and property tests hold both to the same answers.
 */
#include "_markup.h"

#define LONGEST_HEAD (1 << 16)

enum Field {
    TYPE, RECORD_ID, DATE, TARGET, LENGTH, BLOCK, PAYLOAD, CONTENT_TYPE, CONCURRENT, TRUNCATED,
    PARTS /* segments and noted anomalies: the careful reader's */, FIELDS
};

static const char *const NAMES[FIELDS] = {
    "WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "Content-Length",
    "WARC-Block-Digest", "WARC-Payload-Digest", "Content-Type", "WARC-Concurrent-To",
    "WARC-Truncated", "",
};

typedef struct {
    Text field[FIELDS];
    const char *block; /* after the header's empty line */
    const char *end;   /* after the block */
} Record;

/* The characters of a header's name: RFC 9110 section 5.6.2. */
static const unsigned char TOKEN[256] = {
    ['0' ... '9'] = 1, ['a' ... 'z'] = 1, ['A' ... 'Z'] = 1, ['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1,
    ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1, ['|'] = 1,
    ['~'] = 1, ['-'] = 1,
};

static int is(Text text, const char *word) {
    return text.at && (size_t)text.size == strlen(word) && !memcmp(text.at, word, text.size);
}

/* The end of the line at p, before its CRLF; NULL if there is more in it than printable ASCII. */
static const char *line_end(const char *p, const char *end) {
    const char *stop = memchr(p, '\r', end - p);
    if (stop == NULL || stop + 1 >= end || stop[1] != '\n') return NULL;
    for (; p < stop; p++)
        if (*p < 0x20 || *p > 0x7e) return NULL;
    return stop;
}

/* The next line of a header, with p behind it: 1; its empty line: 0; one that is not plain: -1. */
static int next_field(const char **p, const char *end, Text *name, Text *value) {
    const char *at = *p, *stop = line_end(at, end);
    if (stop == NULL) return -1;
    *p = stop + 2;
    if (stop == at) return 0;
    name->at = at;
    while (TOKEN[(unsigned char)*at]) at++; /* there is a CR at the end */
    name->size = at - name->at;
    if (name->size == 0 || *at != ':') return -1;
    at += at[1] == ' ' ? 2 : 1;
    *value = (Text){at, stop - at};
    return value->size && (*at == ' ' || stop[-1] == ' ') ? -1 : 1;
}

/* What some digits say; -1 if they are not all digits, or more than any length has. */
static long long number(Text text) {
    long long value = 0;
    for (Py_ssize_t i = 0; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9') return -1;
        value = value * 10 + (text.at[i] - '0');
        if (i == 18) return -1;
    }
    return text.size ? value : -1;
}

/* Which field a name is: its number, FIELDS for one without meaning here, PARTS for one that only a
 * careful reader should look at, as it is or by the way it is written. */
static int field_of(Text name) {
    const char *end = name.at + name.size;
    for (int i = 0; i < PARTS; i++)
        if (is_word(name, NAMES[i])) return is(name, NAMES[i]) ? i : PARTS;
    return begins(name.at, end, "warc-segment") || begins(name.at, end, "warc-asof-an") ? PARTS : FIELDS;
}

/* One record that fills the content exactly, its header in the plainest form. */
static int take_record(Record *record, const char *p, Py_ssize_t size) {
    const char *end = p + size;
    memset(record, 0, sizeof *record);
    if (size < 32 || memcmp(p, "WARC/1.", 7) || (p[7] != '0' && p[7] != '1')) return 0;
    if (memcmp(p + 8, "\r\n", 2) || memcmp(end - 4, "\r\n\r\n", 4)) return 0;
    const char *limit = size > LONGEST_HEAD ? p + LONGEST_HEAD : end;
    Text name, value;
    int more;
    p += 10;
    while ((more = next_field(&p, limit, &name, &value)) == 1) {
        int field = field_of(name);
        if (value.size == 0 || value.at[-1] != ' ' || field == PARTS) return 0;
        if (field == FIELDS) continue;
        if (record->field[field].at && field != CONCURRENT) return 0;
        if (record->field[field].at == NULL) record->field[field] = value;
    }
    if (more < 0) return 0;
    record->block = p;
    record->end = end - 4;
    Text length = record->field[LENGTH];
    if (length.at == NULL || (length.size > 1 && length.at[0] == '0')) return 0;
    return number(length) == record->end - record->block;
}

/* A digest as most write it: its name in small letters, base32 in capitals, padded. */
static int is_digest(Text text) {
    if (text.at == NULL) return 0;
    int sha1 = text.size == 37 && !memcmp(text.at, "sha1:", 5);
    int sha256 = text.size == 63 && !memcmp(text.at, "sha256:", 7) && !memcmp(text.at + 59, "====", 4);
    for (int i = sha1 ? 5 : 7; i < (sha1 ? 37 : 59) && i < text.size; i++)
        if (!((text.at[i] >= 'A' && text.at[i] <= 'Z') || (text.at[i] >= '2' && text.at[i] <= '7'))) return 0;
    return sha1 || sha256;
}

static int is_web_url(Text url) {
    if (url.at == NULL || url.size < 9) return 0; /* https:// and a letter; http://a waits */
    if (memcmp(url.at, "http://", 7) && memcmp(url.at, "https://", 8)) return 0;
    for (Py_ssize_t i = 0; i < url.size; i++)
        if (url.at[i] == ' ') return 0;
    return url.at[url.size - 1] != '>';
}

/* <urn:uuid:...> as the 36 characters inside, or {NULL}. */
static Text record_id(Text text) {
    Text none = {NULL, 0};
    if (text.at == NULL || text.size != 47 || memcmp(text.at, "<urn:uuid:", 10)) return none;
    if (text.at[46] != '>') return none;
    const char *p = text.at + 10;
    for (int i = 0; i < 36; i++) {
        int c = lower(p[i]), dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return none;
    }
    return (Text){p, 36};
}

enum Header { H_TYPE, H_ETAG, H_MODIFIED, H_TRANSFER, H_CODING, H_AGE, HEADERS };
static const char *const HEADER_NAMES[HEADERS] = {
    "content-type", "etag", "last-modified", "transfer-encoding", "content-encoding", "age",
};

/* The head of a response: its status and the headers that count; gives its end, or NULL. */
static const char *take_head(const char *p, const char *end, int *status, Text *headers) {
    const char *limit = end - p > LONGEST_HEAD ? p + LONGEST_HEAD : end;
    const char *stop = line_end(p, limit);
    if (stop == NULL || stop - p < 12 || memcmp(p, "HTTP/1.", 7)) return NULL;
    if ((p[7] != '0' && p[7] != '1') || p[8] != ' ') return NULL;
    *status = (int)number((Text){p + 9, 3});
    if (*status < 200 || *status / 100 == 3 || (stop - p > 12 && p[12] != ' ')) return NULL;
    if (stop[-1] == ' ') return NULL;
    Text name, value;
    int more;
    p = stop + 2;
    while ((more = next_field(&p, limit, &name, &value)) == 1)
        for (int i = 0; i < HEADERS; i++)
            if (headers[i].at == NULL && is_word(name, HEADER_NAMES[i])) headers[i] = value;
    return more < 0 ? NULL : p;
}

static PyObject *text_or_none(Text text) {
    if (text.at == NULL) Py_RETURN_NONE;
    return PyUnicode_FromStringAndSize(text.at, text.size);
}

static Text media_type(Text text) {
    Py_ssize_t i = 0;
    while (i < text.size && text.at[i] != ';' && text.at[i] != ' ') i++;
    return (Text){text.at, i};
}

/* The bytes of an object that stay where they are while the GIL is held; 0 and an error if none. */
static int take_bytes(PyObject *content, const char **p, Py_ssize_t *size) {
    if (PyByteArray_Check(content)) {
        *p = PyByteArray_AS_STRING(content);
        *size = PyByteArray_GET_SIZE(content);
        return 1;
    }
    return PyBytes_AsStringAndSize(content, (char **)p, size) == 0;
}

static PyObject *response(PyObject *self, PyObject *content) {
    const char *p;
    Py_ssize_t size;
    Record record;
    if (!take_bytes(content, &p, &size)) return NULL;
    if (!take_record(&record, p, size)) Py_RETURN_NONE;
    Text *field = record.field;
    if (is(field[TYPE], "request") && field[CONCURRENT].at)
        return record.end - record.block > 3 && !memcmp(record.block, "GET ", 4) ? PyTuple_New(0)
                                                                                 : Py_NewRef(Py_None);
    if (is(field[TYPE], "metadata") && field[CONCURRENT].at &&
        is(field[CONTENT_TYPE], "application/warc-fields"))
        return PyTuple_New(0);
    Text id = record_id(field[RECORD_ID]);
    if (!is(field[TYPE], "response") || id.at == NULL || field[DATE].at == NULL) Py_RETURN_NONE;
    if (!is_web_url(field[TARGET]) || !is_digest(field[PAYLOAD])) Py_RETURN_NONE;
    int status = 0;
    Text headers[HEADERS] = {{NULL, 0}};
    const char *payload = take_head(record.block, record.end, &status, headers);
    if (payload == NULL || headers[H_TRANSFER].at || headers[H_CODING].at) Py_RETURN_NONE;
    return Py_BuildValue(
        "(NNNiNNnNNNN)", text_or_none(field[DATE]), text_or_none(id), text_or_none(field[TARGET]), status,
        text_or_none(media_type(headers[H_TYPE])), text_or_none(field[PAYLOAD]),
        (Py_ssize_t)(record.end - payload), text_or_none(headers[H_ETAG]),
        text_or_none(headers[H_MODIFIED]), text_or_none(field[TRUNCATED]), text_or_none(headers[H_AGE]));
}

static PyObject *letters(Text digest) {
    int name = digest.size == 37 ? 5 : 7;
    return PyUnicode_FromStringAndSize(digest.at + name, digest.size - name);
}

static PyObject *digests(PyObject *self, PyObject *content) {
    const char *p;
    Py_ssize_t size;
    Record record;
    if (!take_bytes(content, &p, &size)) return NULL;
    if (!take_record(&record, p, size)) Py_RETURN_NONE;
    Text *field = record.field, name, value;
    if (!is(field[TYPE], "response") && !is(field[TYPE], "request")) Py_RETURN_NONE;
    if (field[DATE].at == NULL || !is_web_url(field[TARGET])) Py_RETURN_NONE;
    if (!is_digest(field[BLOCK]) || !is_digest(field[PAYLOAD])) Py_RETURN_NONE;
    const char *start = line_end(record.block, record.end);
    if (start == NULL || start == record.block || *record.block == ' ') Py_RETURN_NONE;
    int more = 1;
    for (start += 2; more == 1;) more = next_field(&start, record.end, &name, &value);
    if (more < 0) Py_RETURN_NONE;
    return Py_BuildValue("(NNnnNN)", text_or_none(field[TYPE]), text_or_none(field[DATE]),
                         (Py_ssize_t)(record.block - p), (Py_ssize_t)(start - p),
                         letters(field[BLOCK]), letters(field[PAYLOAD]));
}

/* Where the next gzip member may begin, from a position of some bytes on; -1 when nowhere.
 * bytes.find takes 3 us for the 5 KB of a packed page, memchr and a look 0.3. */
static PyObject *find_member(PyObject *self, PyObject *args) {
    PyObject *bytes;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "Sn", &bytes, &start)) return NULL;
    if (start < 0) {
        PyErr_SetString(PyExc_ValueError, "a position is not negative");
        return NULL;
    }
    const char *data = PyBytes_AS_STRING(bytes), *end = data + PyBytes_GET_SIZE(bytes);
    if (start < end - data)
        for (const char *p = data + start; (p = memchr(p, 0x1f, end - p)) != NULL; p++)
            if (end - p >= 3 && (unsigned char)p[1] == 0x8b && p[2] == 8)
                return PyLong_FromSsize_t(p - data);
    return PyLong_FromLong(-1);
}

/* RFC 4648 base32 of some bytes, padding and all. */
static PyObject *base32(PyObject *self, PyObject *digest) {
    const char *p;
    Py_ssize_t size;
    char out[104]; /* of 64 bytes: the longest digest there is */
    if (!take_bytes(digest, &p, &size)) return NULL;
    if (size > 64) {
        PyErr_SetString(PyExc_ValueError, "too long for a digest");
        return NULL;
    }
    unsigned whole = (unsigned)((size + 4) / 5 * 8), length = (unsigned)size;
    for (unsigned i = 0; i < whole; i++) {
        unsigned from = i * 5 / 8, two = from < length ? (unsigned char)p[from] << 8 : 0;
        if (from + 1 < length) two |= (unsigned char)p[from + 1];
        out[i] = from < length ? "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[two >> (11 - i * 5 % 8) & 31] : '=';
    }
    return PyUnicode_FromStringAndSize(out, whole);
}

/* The characters of a path and of a query that the URL parser copies unchanged (url/whatwg.py). */
enum { IN_PATH = 1, IN_QUERY = 2, IN_FIRST = 4, BOTH = IN_PATH | IN_QUERY };
static const unsigned char URL_CLASS[256] = {
    ['a' ... 'z'] = BOTH | IN_FIRST, ['A' ... 'Z'] = BOTH | IN_FIRST, ['0' ... '9'] = BOTH | IN_FIRST,
    ['_'] = BOTH | IN_FIRST, ['~'] = BOTH | IN_FIRST, ['-'] = BOTH, ['.'] = BOTH, ['!'] = BOTH,
    ['$'] = BOTH, ['&'] = BOTH, ['\''] = IN_PATH, ['('] = BOTH, [')'] = BOTH, ['*'] = BOTH, ['+'] = BOTH,
    [','] = BOTH, [';'] = BOTH, ['='] = BOTH, [':'] = BOTH, ['@'] = BOTH, ['/'] = BOTH, ['|'] = BOTH,
    ['%'] = BOTH, ['['] = BOTH, [']'] = BOTH, ['?'] = IN_QUERY, ['^'] = IN_QUERY, ['`'] = IN_QUERY,
    ['{'] = IN_QUERY, ['}'] = IN_QUERY, ['\\'] = IN_QUERY,
};

/* How much of a reference belongs to the URL (all but its fragment), or -1 if it is not plain. A
 * relative one has no colon before its first end of a segment that could make it a scheme. */
static Py_ssize_t plain_length(const unsigned char *p, Py_ssize_t size, int rooted) {
    Py_ssize_t i = 0;
    int part = IN_PATH;
    if (rooted ? size > 1 && p[1] == '/' : !(URL_CLASS[p[0]] & IN_FIRST)) return -1;
    for (; i < size; i++) {
        if (p[i] == '?') part = IN_QUERY;
        if (!(URL_CLASS[p[i]] & part)) break;
        if (p[i] == ':' && !rooted && part == IN_PATH) return -1;
        if (p[i] == '.' && i > 0 && p[i - 1] == '/') return -1;
        if (p[i] == '%' && size - i > 2 && p[i + 1] == '2' && (p[i + 2] | 32) == 'e') return -1;
    }
    Py_ssize_t length = i;
    if (i < size && p[i] == '#')
        for (i++; i < size && p[i] > 0x20 && p[i] < 0x7f; i++) {}
    return i == size ? length : -1;
}

/* A text of a stem and a part of a reference that need no other character. */
static PyObject *concat(const unsigned char *stem, Py_ssize_t length, const unsigned char *p,
                        Py_ssize_t size) {
    PyObject *url = PyUnicode_New(length + size, 127);
    if (url == NULL) return NULL;
    memcpy(PyUnicode_1BYTE_DATA(url), stem, length);
    memcpy(PyUnicode_1BYTE_DATA(url) + length, p, size);
    return url;
}

/* What a reference means in a document whose server and folder these are; None if it is not plain.
 * One that is absolute stands for itself, as far as somebody knows it just so. */
static PyObject *plain_url(PyObject *root, PyObject *folder, PyObject *reference, int *absolute) {
    const unsigned char *p = PyUnicode_1BYTE_DATA(reference);
    const unsigned char *stem = PyUnicode_1BYTE_DATA(folder);
    Py_ssize_t size = PyUnicode_GET_LENGTH(reference), length = PyUnicode_GET_LENGTH(folder);
    Py_ssize_t top = PyUnicode_GET_LENGTH(root) + 1;
    *absolute = 0;
    if (size > 8 && p[0] == 'h' && (!memcmp(p, "http://", 7) || !memcmp(p, "https://", 8))) {
        const unsigned char *hash = memchr(p, '#', size);
        *absolute = 1;
        return concat(p, 0, p, hash ? hash - p : size);
    }
    int rooted = size > 0 && p[0] == '/';
    while (!rooted && size > 0 && p[0] == '.') {
        if (size > 2 && p[1] == '.' && p[2] == '/') {
            p += 3, size -= 3;
            if (length > top) /* the topmost folder is its own parent */
                for (length--; stem[length - 1] != '/'; length--) {}
        } else if (size > 1 && p[1] == '/') {
            p += 2, size -= 2;
        } else {
            break;
        }
    }
    if (rooted) length = top - 1;
    Py_ssize_t used = size > 0 ? plain_length(p, size, rooted) : -1;
    if (used < 0 || length + used > 1 << 16) Py_RETURN_NONE;
    return concat(stem, length, p, used);
}

/* Of tuples that begin with a reference: those that mean a URL which is no key of `known`, each
 * with that URL, or with None where somebody else has to look. */
static PyObject *unknown(PyObject *self, PyObject *args) {
    PyObject *items, *root, *folder, *known;
    if (!PyArg_ParseTuple(args, "O!UUO!", &PyTuple_Type, &items, &root, &folder, &PyDict_Type, &known))
        return NULL;
    Py_ssize_t top = PyUnicode_GET_LENGTH(root), length = PyUnicode_GET_LENGTH(folder);
    if (!PyUnicode_IS_ASCII(root) || !PyUnicode_IS_ASCII(folder) || length <= top ||
        PyUnicode_READ_CHAR(folder, top) != '/' || PyUnicode_READ_CHAR(folder, length - 1) != '/') {
        PyErr_SetString(PyExc_TypeError, "unknown takes a server and a folder of it");
        return NULL;
    }
    PyObject *left = PyList_New(0);
    for (Py_ssize_t i = 0; left != NULL && i < PyTuple_GET_SIZE(items); i++) {
        PyObject *item = PyTuple_GET_ITEM(items, i), *reference, *url = Py_None;
        int absolute = 0;
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) == 0 ||
            !PyUnicode_Check(reference = PyTuple_GET_ITEM(item, 0))) {
            PyErr_SetString(PyExc_TypeError, "an item begins with a text");
            Py_CLEAR(left);
            break;
        }
        url = PyUnicode_IS_ASCII(reference) ? plain_url(root, folder, reference, &absolute) : Py_NewRef(Py_None);
        int is_known = url == NULL ? -1 : url == Py_None ? 0 : PyDict_Contains(known, url);
        PyObject *pair = is_known ? NULL : PyTuple_Pack(2, absolute ? Py_None : url, item);
        if (is_known < 0 || (!is_known && (pair == NULL || PyList_Append(left, pair) < 0))) Py_CLEAR(left);
        Py_XDECREF(pair);
        Py_XDECREF(url);
    }
    return left;
}

/* Whether a head goes on to be plain after this field: *length is what it says the body has, -1 as
 * long as nothing does; *open whether the connection stays so. */
static int framing(Text name, Text value, long long *length, int *open) {
    if (is_word(name, "transfer-encoding")) return 0;
    if (is_word(name, "content-length")) {
        if (*length >= 0 || (*length = number(value)) < 0) return 0;
    } else if (is_word(name, "connection")) {
        if (is_word(value, "close")) *open = 0;
        else return is_word(value, "keep-alive");
    }
    return 1;
}

/* The head of an answer with nothing odd about it, and whose length is plainly told (http/head.py,
 * http/wire.py): where it ends, status, reason, headers, length of the body, and whether the
 * connection stays open. None of any other. */
static PyObject *plain_head(PyObject *self, PyObject *content) {
    const char *p;
    Py_ssize_t size;
    if (!take_bytes(content, &p, &size)) return NULL;
    if (size < 19 || memcmp(p, "HTTP/1.1 ", 9) || p[12] != ' ') Py_RETURN_NONE;
    int status = (int)number((Text){p + 9, 3}), open = 1, more;
    if (status < 200 || status > 599 || status == 204 || status == 304) Py_RETURN_NONE;
    const char *start = p, *end = p + size, *stop = line_end(p, end);
    Text reason = {p + 13, stop ? stop - p - 13 : 0}, name, value;
    if (reason.size <= 0 || reason.at[0] == ' ' || stop[-1] == ' ') Py_RETURN_NONE;
    long long length = -1;
    PyObject *fields = PyList_New(0), *all = NULL;
    p = stop + 2;
    while (fields != NULL && (more = next_field(&p, end, &name, &value)) == 1) {
        PyObject *field = NULL;
        if (framing(name, value, &length, &open))
            field = Py_BuildValue("(s#s#)", name.at, name.size, value.at, value.size);
        if (field == NULL || PyList_Append(fields, field) < 0) Py_CLEAR(fields);
        Py_XDECREF(field);
    }
    if (fields != NULL && more == 0 && length >= 0) all = PyList_AsTuple(fields);
    Py_XDECREF(fields);
    if (PyErr_Occurred()) return NULL;
    if (all == NULL) Py_RETURN_NONE;
    return Py_BuildValue("(nis#NLi)", (Py_ssize_t)(p - start), status, reason.at, reason.size, all, length, open);
}

/* The tags of a page that may refer to something (text/links/html_links.py). Only a crawl without
 * any delay gains by this: 0.07 ms for a page of 20 KB, in Python 2. */

#define ELEMENTS                                                                                  \
    " a area link base meta form img image picture source video audio track input script iframe"     \
    " frame object embed param applet bgsound use "

static int has(Text text, int first, int second) {
    return memchr(text.at, first, text.size) || memchr(text.at, second, text.size);
}

/* Whether any element may refer to something by this attribute; in a drawing there are more. */
static int notable(Attribute a, int drawn) {
    const char *name = a.name.at, *end = name + a.name.size;
    if (drawn && (has(a.value, '(', '&') || begins(name, end, "xl") || begins(name, end, "hr") ||
                  begins(name, end, "sr")))
        return 1;
    if (a.name.size < 5) return 0;
    if (a.name.size == 5) return is_word(a.name, "style") && has(a.value, '(', '&');
    if (begins(name, end, "data-")) return strchr("bhlopsBHLOPS", name[5]) != NULL;
    return is_word(a.name, "background");
}

/* Whether a reference is all ASCII, has no entity, no blank at an end, and no scheme that leads
 * nowhere (text/links/link.py, SUSPECT). */
static int plain_reference(Text href) {
    const unsigned char *p = (const unsigned char *)href.at, *end = p + href.size;
    if (p == end || *p <= ' ' || *p == '#' || strchr("jdmtab", *p | 32) || end[-1] <= ' ') return 0;
    for (; p < end; p++)
        if (*p == '&' || *p == 0 || *p >= 128) return 0;
    return 1;
}

static PyObject *latin(Text text) {
    return PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, text.at, text.size);
}

/* A link like another one, but with this reference. */
static PyObject *linked(PyObject *link, Text reference) {
    PyTypeObject *type = Py_TYPE(link);
    PyObject *made = type->tp_alloc(type, PyTuple_GET_SIZE(link)), *text = latin(reference);
    if (made == NULL || text == NULL) {
        Py_XDECREF(made);
        Py_XDECREF(text);
        return NULL;
    }
    PyTuple_SET_ITEM(made, 0, text);
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(link); i++)
        PyTuple_SET_ITEM(made, i, Py_NewRef(PyTuple_GET_ITEM(link, i)));
    return made;
}

static PyObject *element(const Token *token, Text raw) {
    Text image = {"img", 3}, name = token->name;
    if (!token->foreign && is_word(name, "image")) name = image; /* as in a browser */
    PyObject *written = latin(name), *small = NULL;
    if (written != NULL) small = PyObject_CallMethod(written, "lower", NULL);
    Py_XDECREF(written);
    if (small == NULL) return NULL;
    return Py_BuildValue("(NNNN)", small, latin(token->written), PyBool_FromLong(token->drawn), latin(raw));
}

/* What a start tag may refer to, as a new link or element; NULL without an error: nothing. */
static PyObject *hit(const Markup *m, const Token *token, PyObject *link) {
    int anchor = token->name.size == 1 && (token->name.at[0] | 32) == 'a' && !token->drawn;
    int odd = memchr(token->name.at, '-', token->name.size) != NULL;
    const Attribute *href = NULL;
    for (Py_ssize_t i = 0; i < m->count; i++) {
        const Attribute *a = &m->attributes[i];
        odd |= notable(*a, token->drawn);
        if (!anchor) continue;
        if (href == NULL && is_word(a->name, "href")) href = a;
        odd |= is_word(a->name, "xlink:href");
    }
    if (anchor && !odd) {
        if (href == NULL || href->value.size == 0 || href->value.at[0] == '#') return NULL;
        return plain_reference(href->value) ? linked(link, href->value) : latin(href->value);
    }
    Text raw = {"", 0};
    if (token->raw.size && one_of(token->name, " style script noframes noembed ")) raw = token->raw;
    odd |= m->count && one_of(token->name, ELEMENTS);
    return odd || raw.size ? element(token, raw) : NULL;
}

static PyObject *tags(PyObject *self, PyObject *args) {
    PyObject *view, *link;
    Py_ssize_t most;
    Markup m = {0};
    Token token;
    int more;
    if (!PyArg_ParseTuple(args, "UnO!", &view, &most, &PyTuple_Type, &link)) return NULL;
    if (PyUnicode_KIND(view) != PyUnicode_1BYTE_KIND || PyTuple_GET_SIZE(link) == 0) {
        PyErr_SetString(PyExc_ValueError, "tags reads latin-1, and makes links like a link");
        return NULL;
    }
    m.p = (const char *)PyUnicode_1BYTE_DATA(view);
    m.end = m.p + PyUnicode_GET_LENGTH(view);
    PyObject *found = PyList_New(0);
    while (found != NULL && PyList_GET_SIZE(found) < most && (more = next_token(&m, &token)) != 0) {
        PyObject *made = more < 0 || token.name.size == 0 || token.closing ? NULL : hit(&m, &token, link);
        if (made != NULL ? PyList_Append(found, made) < 0 : PyErr_Occurred() != NULL) Py_CLEAR(found);
        Py_XDECREF(made);
    }
    PyMem_Free(m.attributes);
    return found;
}

static PyMethodDef METHODS[] = {
    {"tags", tags, METH_VARARGS,
     "The tags of a page that may refer to something."},
    {"unknown", unknown, METH_VARARGS,
     "The references that mean a URL which is not known, with that URL."},
    {"plain_head", plain_head, METH_O, "What a plain head says, or None."},
    {"base32", base32, METH_O, "RFC 4648 base32 of a digest."},
    {"find_member", find_member, METH_VARARGS, "Where the next gzip member may begin."},
    {"response", response, METH_O, "What a row needs of a plain response, (), or None."},
    {"digests", digests, METH_O, "Where block and payload lie, and the digests they should have."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "asof._native", "What every record, link and page goes through.",
    0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModule_Create(&MODULE); }
