/* What every record, link and page goes through, in C: the compiled twin of some Python (ADR 7).
 *
 *   response(content) -> (at, record_id, url, status, media_type, digest, size, etag,
 *                         last_modified, truncated) of a plainly written WARC record, or () for a
 *                         request or metadata record that goes with a response, or None.
 *   digests(content)  -> (kind, block_start, payload_start, block_digest, payload_digest) of one,
 *                         the digests as bytes, or None.
 *   find_member(data, start) -> where the next gzip member may begin, or -1.
 *   base32(digest)    -> RFC 4648 base32.
 *   tags(view, position, most) -> the tags of HTML that may refer to something (text/links/html_links.py).
 *   join(stem, reference) -> stem and reference as one URL, if neither needs any change, or None.
 *
 * Content is hostile. Nothing is read outside [p, end); every cursor moves forward; nothing is
 * allocated but the values that are given back. What is not in the plainest form there is, is None:
 * the careful readers in Python decide about it, and property tests hold both to the same answers.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define LONGEST_HEAD (1 << 16)
#define SECOND 1000000LL
#define DAY (86400 * SECOND)

typedef struct {
    const char *at;
    Py_ssize_t size;
} Text; /* at == NULL: not there */

enum Field {
    TYPE, RECORD_ID, DATE, TARGET, LENGTH, BLOCK, PAYLOAD, CONTENT_TYPE, CONCURRENT, TRUNCATED,
    PARTS /* segments and noted anomalies: the careful reader's */, FIELDS
};

static const char *const NAMES[FIELDS] = {
    "WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "Content-Length",
    "WARC-Block-Digest", "WARC-Payload-Digest", "Content-Type", "WARC-Concurrent-To",
    "WARC-Truncated", "",
};
static const unsigned char NAME_SIZES[FIELDS] = {9, 14, 9, 15, 14, 17, 19, 12, 18, 14, 0};

typedef struct {
    Text field[FIELDS];
    const char *block; /* after the header's empty line */
    const char *end;   /* after the block */
} Record;

static int lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

static int same_name(const char *a, const char *b, Py_ssize_t size) {
    for (Py_ssize_t i = 0; i < size; i++)
        if (lower((unsigned char)a[i]) != lower((unsigned char)b[i])) return 0;
    return 1;
}

static int is(Text text, const char *word) {
    return text.at && (size_t)text.size == strlen(word) && !memcmp(text.at, word, text.size);
}

/* The line at p as [p, *stop) before its CRLF, of printable ASCII only; NULL if it is not. */
static const char *line_end(const char *p, const char *end) {
    const char *stop = memchr(p, '\r', end - p);
    if (stop == NULL || stop + 1 >= end || stop[1] != '\n') return NULL;
    for (; p < stop; p++)
        if (*p < 0x20 || *p > 0x7e) return NULL;
    return stop;
}

/* Which field a name is: its number, FIELDS for one without meaning here, -1 if it is written in
 * a way that only a careful reader should take for the name it may mean. */
static int field_of(const char *name, Py_ssize_t size) {
    for (int i = 0; i < PARTS; i++)
        if (NAME_SIZES[i] == size && same_name(name, NAMES[i], size))
            return memcmp(name, NAMES[i], size) ? -1 : i;
    if (size >= 12 && (same_name(name, "WARC-Segment", 12) || same_name(name, "WARC-Asof-An", 12)))
        return PARTS;
    return FIELDS;
}

/* Name, value of one header line into the record; 0 if it is not plain. */
static int take_field(Record *record, const char *p, const char *stop) {
    const char *colon = memchr(p, ':', stop - p);
    if (colon == NULL || colon == p || stop - colon < 3 || colon[1] != ' ') return 0;
    Text value = {colon + 2, stop - colon - 2};
    if (value.at[0] == ' ' || value.at[value.size - 1] == ' ') return 0;
    for (const char *c = p; c < colon; c++)
        if (*c == ' ') return 0;
    int field = field_of(p, colon - p);
    if (field < 0 || field == PARTS) return 0;
    if (field == FIELDS) return 1;
    if (record->field[field].at) return field == CONCURRENT;
    record->field[field] = value;
    return 1;
}

/* One record that fills the content exactly, its header in the plainest form. */
static int take_record(Record *record, const char *p, Py_ssize_t size) {
    const char *end = p + size;
    memset(record, 0, sizeof *record);
    if (size < 32 || memcmp(p, "WARC/1.", 7) || (p[7] != '0' && p[7] != '1')) return 0;
    if (memcmp(p + 8, "\r\n", 2) || memcmp(end - 4, "\r\n\r\n", 4)) return 0;
    const char *limit = size > LONGEST_HEAD ? p + LONGEST_HEAD : end;
    p += 10;
    for (;;) {
        const char *stop = line_end(p, limit);
        if (stop == NULL) return 0;
        if (stop == p) break;
        if (!take_field(record, p, stop)) return 0;
        p = stop + 2;
    }
    record->block = p + 2;
    record->end = end - 4;
    Text length = record->field[LENGTH];
    if (length.at == NULL || length.size > 15 || record->end < record->block) return 0;
    if (length.size > 1 && length.at[0] == '0') return 0;
    long long said = 0;
    for (Py_ssize_t i = 0; i < length.size; i++) {
        if (length.at[i] < '0' || length.at[i] > '9') return 0;
        said = said * 10 + (length.at[i] - '0');
    }
    return said == record->end - record->block;
}

static int digits(const char *p, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (p[i] < '0' || p[i] > '9') return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

/* Microseconds since 1970 of a date between 1990 and 2199, or -1. */
static int64_t instant(int year, int month, int day, const char *clock) {
    static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    static const int longest[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int hour = digits(clock, 2), minute = digits(clock + 3, 2), second = digits(clock + 6, 2);
    if (clock[2] != ':' || clock[5] != ':' || hour < 0 || hour > 23) return -1;
    if (minute < 0 || minute > 59 || second < 0 || second > 59) return -1;
    if (year < 1990 || year > 2199 || month < 1 || month > 12) return -1;
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (day < 1 || day > longest[month - 1] + (month == 2 && leap)) return -1;
    int past = year - 1;
    int64_t days = 365LL * (year - 1970) + (past / 4 - past / 100 + past / 400) - 477;
    days += before[month - 1] + (month > 2 && leap) + day - 1;
    return days * DAY + ((hour * 60 + minute) * 60 + second) * SECOND;
}

/* 2025-03-18T10:00:23Z, with up to nine digits of a fraction. */
static int64_t warc_date(Text text) {
    if (text.at == NULL || text.size < 20 || text.size > 30 || text.at[text.size - 1] != 'Z')
        return -1;
    const char *p = text.at;
    if (p[4] != '-' || p[7] != '-' || p[10] != 'T') return -1;
    int64_t at = instant(digits(p, 4), digits(p + 5, 2), digits(p + 8, 2), p + 11);
    if (at < 0 || text.size == 20) return at;
    int64_t unit = SECOND / 10;
    if (p[19] != '.' || text.size == 21) return -1;
    for (const char *c = p + 20; c < p + text.size - 1; c++, unit /= 10) {
        if (*c < '0' || *c > '9') return -1;
        at += (*c - '0') * unit;
    }
    return at;
}

/* Tue, 18 Mar 2025 10:00:23 GMT */
static int64_t http_date(Text text) {
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const char *p = text.at;
    if (text.size != 29 || memcmp(p + 3, ", ", 2) || memcmp(p + 25, " GMT", 4)) return -1;
    if (p[7] != ' ' || p[11] != ' ' || p[16] != ' ') return -1;
    if (p[0] < 'A' || p[0] > 'Z' || p[1] < 'a' || p[1] > 'z' || p[2] < 'a' || p[2] > 'z') return -1;
    for (int month = 0; month < 12; month++)
        if (!memcmp(p + 8, months + 3 * month, 3))
            return instant(digits(p + 12, 4), month + 1, digits(p + 5, 2), p + 17);
    return -1;
}

/* Base32 as in `sha1:` and `sha256:` digests, into bytes; the count of them, or 0. */
static int read_digest(Text text, unsigned char *out) {
    int size = 0, letters;
    const char *p;
    if (text.at == NULL) return 0;
    if (text.size == 37 && !memcmp(text.at, "sha1:", 5))
        p = text.at + 5, letters = 32;
    else if (text.size == 63 && !memcmp(text.at, "sha256:", 7) && !memcmp(text.at + 59, "====", 4))
        p = text.at + 7, letters = 52;
    else
        return 0;
    uint32_t bits = 0;
    int held = 0;
    for (int i = 0; i < letters; i++) {
        int c = p[i], value;
        if (c >= 'A' && c <= 'Z') value = c - 'A';
        else if (c >= '2' && c <= '7') value = c - '2' + 26;
        else return 0;
        bits = (bits << 5 | value) & 0xffff;
        held += 5;
        if (held >= 8) held -= 8, out[size++] = (bits >> held) & 0xff;
    }
    return (bits & ((1u << held) - 1)) ? 0 : size;
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
        int c = lower((unsigned char)p[i]), dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return none;
    }
    return (Text){p, 36};
}

/* ---- the HTTP head ------------------------------------------------------------------------- */

enum Header { H_TYPE, H_ETAG, H_MODIFIED, H_TRANSFER, H_CODING, HEADERS };
static const char *const HEADER_NAMES[HEADERS] = {
    "content-type", "etag", "last-modified", "transfer-encoding", "content-encoding",
};
static const unsigned char HEADER_SIZES[HEADERS] = {12, 4, 13, 17, 16};

/* The head of a response: its status and the headers that count; gives its end, or NULL. */
static const char *take_head(const char *p, const char *end, int *status, Text *headers) {
    const char *limit = end - p > LONGEST_HEAD ? p + LONGEST_HEAD : end;
    const char *stop = line_end(p, limit);
    if (stop == NULL || stop - p < 12 || memcmp(p, "HTTP/1.", 7)) return NULL;
    if ((p[7] != '0' && p[7] != '1') || p[8] != ' ') return NULL;
    *status = digits(p + 9, 3);
    if (*status < 200 || *status / 100 == 3 || (stop - p > 12 && p[12] != ' ')) return NULL;
    if (stop[-1] == ' ') return NULL;
    for (p = stop + 2;; p = stop + 2) {
        stop = line_end(p, limit);
        if (stop == NULL) return NULL;
        if (stop == p) return p + 2;
        const char *colon = memchr(p, ':', stop - p);
        /* Spaces where they are matters of taste: around the colon, at either end. */
        if (colon == NULL || colon == p || *p == ' ' || colon[-1] == ' ' || stop[-1] == ' ')
            return NULL;
        const char *value = colon + 1;
        if (value < stop && *value == ' ') value++;
        if (value < stop && *value == ' ') return NULL;
        for (int i = 0; i < HEADERS; i++)
            if (colon - p == HEADER_SIZES[i] && same_name(p, HEADER_NAMES[i], colon - p))
                if (headers[i].at == NULL) headers[i] = (Text){value, stop - value};
    }
}

static PyObject *text_or_none(Text text) {
    if (text.at == NULL) Py_RETURN_NONE;
    return PyUnicode_FromStringAndSize(text.at, text.size);
}

static Text media_type(Text text) {
    if (text.at != NULL)
        for (Py_ssize_t i = 0; i < text.size; i++)
            if (text.at[i] == ';' || text.at[i] == ' ') {
                text.size = i;
                break;
            }
    return text;
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
    unsigned char digest[32];
    if (!take_bytes(content, &p, &size)) return NULL;
    if (!take_record(&record, p, size)) Py_RETURN_NONE;
    Text *field = record.field;
    if (is(field[TYPE], "request") && field[CONCURRENT].at) return PyTuple_New(0);
    if (is(field[TYPE], "metadata") && field[CONCURRENT].at &&
        is(field[CONTENT_TYPE], "application/warc-fields"))
        return PyTuple_New(0);
    Text id = record_id(field[RECORD_ID]);
    int64_t at = warc_date(field[DATE]);
    if (!is(field[TYPE], "response") || id.at == NULL || at < 0) Py_RETURN_NONE;
    if (!is_web_url(field[TARGET]) || !read_digest(field[PAYLOAD], digest)) Py_RETURN_NONE;
    int status = 0;
    Text headers[HEADERS] = {{NULL, 0}};
    const char *payload = take_head(record.block, record.end, &status, headers);
    if (payload == NULL || headers[H_TRANSFER].at || headers[H_CODING].at) Py_RETURN_NONE;
    PyObject *changed = Py_None;
    if (headers[H_MODIFIED].at != NULL) {
        int64_t moment = http_date(headers[H_MODIFIED]);
        if (moment < 0) Py_RETURN_NONE;
        /* After the capture, by more than clocks and zones explain: not to be believed. */
        changed = moment <= at + DAY ? PyLong_FromLongLong(moment) : Py_NewRef(Py_None);
    } else
        Py_INCREF(changed);
    return Py_BuildValue(
        "(LNNiNNnNNN)", (long long)at, text_or_none(id), text_or_none(field[TARGET]), status,
        text_or_none(media_type(headers[H_TYPE])), text_or_none(field[PAYLOAD]),
        (Py_ssize_t)(record.end - payload), text_or_none(headers[H_ETAG]), changed,
        text_or_none(field[TRUNCATED]));
}

/* Where the payload of a block with an HTTP head begins, if nobody could think otherwise. */
static const char *payload_of(const char *p, const char *end) {
    if (p == end || *p == '\r' || *p == '\n' || *p == ' ' || *p == '\t') return NULL;
    for (;;) {
        const char *stop = memchr(p, '\n', end - p);
        if (stop == NULL || stop[-1] != '\r') return NULL;
        for (const char *c = p; c < stop - 1; c++)
            if ((unsigned char)*c < 0x20) return NULL;
        if (stop - 1 == p) return stop + 1;
        p = stop + 1;
        if (p < end && (*p == ' ' || *p == '\t')) return NULL;
    }
}

static PyObject *digests(PyObject *self, PyObject *content) {
    const char *p;
    Py_ssize_t size;
    Record record;
    unsigned char block[32], payload[32];
    if (!take_bytes(content, &p, &size)) return NULL;
    if (!take_record(&record, p, size)) Py_RETURN_NONE;
    Text *field = record.field;
    int is_response = is(field[TYPE], "response");
    if (!is_response && !is(field[TYPE], "request")) Py_RETURN_NONE;
    if (warc_date(field[DATE]) < 0 || !is_web_url(field[TARGET])) Py_RETURN_NONE;
    int block_size = read_digest(field[BLOCK], block);
    int payload_size = read_digest(field[PAYLOAD], payload);
    if (!block_size || !payload_size) Py_RETURN_NONE;
    const char *start = payload_of(record.block, record.end);
    if (start == NULL) Py_RETURN_NONE;
    return Py_BuildValue("(y#nny#y#)", is_response ? "response" : "request",
                         (Py_ssize_t)(is_response ? 8 : 7), (Py_ssize_t)(record.block - p),
                         (Py_ssize_t)(start - p), block, (Py_ssize_t)block_size, payload,
                         (Py_ssize_t)payload_size);
}

/* Where the next gzip member may begin, from a position of some bytes on; -1 when nowhere.
 * bytes.find takes 3 us for the 5 KB of a packed page, memchr and a look 0.3. */
static PyObject *find_member(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyBytes_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "find_member takes bytes and a position");
        return NULL;
    }
    const char *data = PyBytes_AS_STRING(args[0]), *end = data + PyBytes_GET_SIZE(args[0]);
    Py_ssize_t start = PyLong_AsSsize_t(args[1]);
    if (start < 0) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a position is not negative");
        return NULL;
    }
    if (start < end - data)
        for (const char *p = data + start; (p = memchr(p, 0x1f, end - p)) != NULL; p++)
            if (end - p >= 3 && (unsigned char)p[1] == 0x8b && p[2] == 8)
                return PyLong_FromSsize_t(p - data);
    return PyLong_FromLong(-1);
}

/* RFC 4648 base32 of some bytes, padding and all. */
static PyObject *base32(PyObject *self, PyObject *digest) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const char *p;
    Py_ssize_t size, from = 0;
    char out[104]; /* of 64 bytes: the longest digest there is */
    if (!take_bytes(digest, &p, &size)) return NULL;
    if (size > 64) {
        PyErr_SetString(PyExc_ValueError, "too long for a digest");
        return NULL;
    }
    Py_ssize_t whole = (size + 4) / 5 * 8, written = 0;
    uint32_t bits = 0;
    int held = 0;
    while (written < (size * 8 + 4) / 5) {
        if (held < 5) {
            bits = (bits << 8 | (from < size ? (unsigned char)p[from] : 0)) & 0xffff;
            from++;
            held += 8;
        }
        held -= 5;
        out[written++] = letters[bits >> held & 31];
    }
    while (written < whole) out[written++] = '=';
    return PyUnicode_FromStringAndSize(out, whole);
}

/* ---- URLs ---------------------------------------------------------------------------------- */

/* The characters of a path and of a query that the URL parser copies unchanged (url/whatwg.py). */
static unsigned char URL_CLASS[256];
enum { IN_PATH = 1, IN_QUERY = 2, IN_FRAGMENT = 4, IN_FIRST = 8 };

static void fill_url_class(void) {
    static const char path[] = "-._~!$&'()*+,;=:@/|%[]", query[] = "-._~!$&()*+,;=:@/|%[]?^`{}\\";
    for (int c = 0; c < 256; c++) {
        int letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        URL_CLASS[c] = letter ? IN_PATH | IN_QUERY | IN_FIRST : 0;
        if (c > 0x20 && c < 0x7f) URL_CLASS[c] |= IN_FRAGMENT;
        if (c == '_' || c == '~') URL_CLASS[c] |= IN_FIRST;
    }
    for (const char *c = path; *c; c++) URL_CLASS[(unsigned char)*c] |= IN_PATH;
    for (const char *c = query; *c; c++) URL_CLASS[(unsigned char)*c] |= IN_QUERY;
}

/* How much of a reference belongs to the URL (all but its fragment), or -1 if it is not plain. A
 * relative one has no colon before its first end of a segment that could make it a scheme. */
static Py_ssize_t plain_length(const unsigned char *p, Py_ssize_t size, int rooted) {
    Py_ssize_t i = 0;
    if (rooted ? size > 1 && p[1] == '/' : !(URL_CLASS[p[0]] & IN_FIRST)) return -1;
    for (; i < size && (URL_CLASS[p[i]] & IN_PATH); i++) {
        if (p[i] == ':' && !rooted) return -1;
        if (p[i] == '.' && i > 0 && p[i - 1] == '/') return -1;
        if (p[i] == '%' && size - i > 2 && p[i + 1] == '2' && (p[i + 2] | 32) == 'e') return -1;
    }
    if (i < size && p[i] == '?')
        for (i++; i < size && (URL_CLASS[p[i]] & IN_QUERY); i++) {
            if (p[i] == '.' && p[i - 1] == '/') return -1;
            if (p[i] == '%' && size - i > 2 && p[i + 1] == '2' && (p[i + 2] | 32) == 'e') return -1;
        }
    Py_ssize_t length = i;
    if (i < size && p[i] == '#')
        for (i++; i < size && (URL_CLASS[p[i]] & IN_FRAGMENT); i++) {}
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

static PyObject *join(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 2 || !PyUnicode_Check(args[0]) || !PyUnicode_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "join takes two texts");
        return NULL;
    }
    if (!PyUnicode_IS_ASCII(args[0]) || !PyUnicode_IS_ASCII(args[1])) Py_RETURN_NONE;
    const unsigned char *p = PyUnicode_1BYTE_DATA(args[1]);
    Py_ssize_t size = PyUnicode_GET_LENGTH(args[1]), stem = PyUnicode_GET_LENGTH(args[0]);
    if (size == 0) Py_RETURN_NONE;
    Py_ssize_t length = plain_length(p, size, p[0] == '/');
    if (length < 0 || stem + length > 1 << 16) Py_RETURN_NONE;
    return concat(PyUnicode_1BYTE_DATA(args[0]), stem, p, length);
}

/* Where the path of an absolute URL begins whose server is plainly written (url/whatwg.py): a name of
 * small letters, digits and hyphens whose last label begins with a letter, and maybe a port that is
 * not the usual one; -1 of any other. */
static Py_ssize_t plain_server(const unsigned char *p, Py_ssize_t size) {
    Py_ssize_t start = p[4] == 's' ? 8 : 7, i = start, label = start;
    for (; i < size; i++) {
        if (p[i] == '.') {
            if (i == label) return -1;
            label = i + 1;
        } else if (!((p[i] >= 'a' && p[i] <= 'z') || (p[i] >= '0' && p[i] <= '9') || p[i] == '-')) {
            break;
        } else if (p[i] == '-' && i - start >= 3 && !memcmp(p + i - 3, "xn-", 3)) {
            return -1; /* IDNA */
        }
    }
    if (i == label || p[label] < 'a' || p[label] > 'z' || i >= size) return -1;
    if (p[i] == ':') {
        Py_ssize_t port = i + 1, digits;
        for (i = port; i < size && p[i] >= '0' && p[i] <= '9'; i++) {}
        digits = i - port;
        if (digits == 0 || digits > 5 || p[port] == '0' || (digits == 5 && p[port] > '5')) return -1;
        if (start == 7 ? digits == 2 && !memcmp(p + port, "80", 2)
                       : digits == 3 && !memcmp(p + port, "443", 3))
            return -1;
    }
    return i < size && p[i] == '/' ? i : -1;
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
        Py_ssize_t path = plain_server(p, size);
        Py_ssize_t used = path < 0 || (path + 1 < size && p[path + 1] == '/')
                              ? -1 : plain_length(p + path, size - path, 1);
        if (used >= 0 && path + used <= 1 << 16) return concat(p, path, p + path, used);
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
static PyObject *unknown(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 4 || !PyTuple_Check(args[0]) || !PyUnicode_Check(args[1]) ||
        !PyUnicode_Check(args[2]) || !PyDict_Check(args[3]) || !PyUnicode_IS_ASCII(args[1]) ||
        !PyUnicode_IS_ASCII(args[2]) ||
        PyUnicode_GET_LENGTH(args[2]) <= PyUnicode_GET_LENGTH(args[1]) ||
        PyUnicode_READ_CHAR(args[2], PyUnicode_GET_LENGTH(args[1])) != '/' ||
        PyUnicode_READ_CHAR(args[2], PyUnicode_GET_LENGTH(args[2]) - 1) != '/') {
        PyErr_SetString(PyExc_TypeError, "unknown takes tuples, a server, a folder and a dict");
        return NULL;
    }
    PyObject *left = PyList_New(0);
    for (Py_ssize_t i = 0; left != NULL && i < PyTuple_GET_SIZE(args[0]); i++) {
        PyObject *item = PyTuple_GET_ITEM(args[0], i), *url;
        int absolute = 0, is_known = 0;
        if (!PyTuple_Check(item) || PyTuple_GET_SIZE(item) == 0 ||
            !PyUnicode_Check(PyTuple_GET_ITEM(item, 0))) {
            PyErr_SetString(PyExc_TypeError, "an item begins with a text");
            Py_CLEAR(left);
            break;
        }
        PyObject *reference = PyTuple_GET_ITEM(item, 0);
        if (PyUnicode_IS_ASCII(reference)) {
            url = plain_url(args[1], args[2], reference, &absolute);
        } else {
            url = Py_NewRef(Py_None);
        }
        if (url != NULL && url != Py_None) is_known = PyDict_Contains(args[3], url);
        if (url == NULL || is_known < 0) {
            Py_CLEAR(left);
        } else if (!is_known) {
            PyObject *pair = PyTuple_Pack(2, absolute ? Py_None : url, item);
            if (pair == NULL || PyList_Append(left, pair) < 0) Py_CLEAR(left);
            Py_XDECREF(pair);
        }
        Py_XDECREF(url);
    }
    return left;
}

/* ---- HTTP ---------------------------------------------------------------------------------- */

/* The characters of a header's name: RFC 9110 section 5.6.2. */
static unsigned char TOKEN[256];

static void fill_token(void) {
    for (int c = 0; c < 128; c++)
        TOKEN[c] = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
                   (c && strchr("!#$%&'*+.^_`|~-", c) != NULL);
}

/* The head of an answer with nothing odd about it, and whose length is plainly told (http/head.py,
 * http/wire.py): where it ends, version, status, reason, headers, length of the body, and whether
 * the connection stays open. None of any other. */
static PyObject *plain_head(PyObject *self, PyObject *content) {
    const char *p;
    Py_ssize_t size;
    if (!take_bytes(content, &p, &size)) return NULL;
    if (size < 19 || memcmp(p, "HTTP/1.1 ", 9) || p[12] != ' ') Py_RETURN_NONE;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (p[i] < '0' || p[i] > '9') Py_RETURN_NONE;
        status = status * 10 + p[i] - '0';
    }
    if (status < 200 || status > 599 || status == 204 || status == 304) Py_RETURN_NONE;
    const char *line = p + 13, *end = p + size, *stop = memchr(line, '\r', size - 13);
    if (stop == NULL || end - stop < 2 || stop[1] != '\n' || stop == line) Py_RETURN_NONE;
    if (*line <= ' ' || stop[-1] <= ' ') Py_RETURN_NONE;
    for (const char *c = line; c < stop; c++)
        if (*c < ' ' || *c > '~') Py_RETURN_NONE;
    PyObject *fields = PyList_New(0), *answer = NULL;
    if (fields == NULL) return NULL;
    const char *reason = line, *reason_end = stop;
    long long length = -1;
    int open = 1;
    for (line = stop + 2;; line = stop + 2) {
        if (end - line < 2) goto odd;
        if (line[0] == '\r' && line[1] == '\n') break;
        stop = memchr(line, '\r', end - line);
        if (stop == NULL || end - stop < 2 || stop[1] != '\n') goto odd;
        const char *colon = line, *value, *tail = stop;
        while (colon < stop && TOKEN[(unsigned char)*colon]) colon++;
        if (colon == line || colon == stop || *colon != ':') goto odd;
        for (value = colon + 1; value < tail && (*value == ' ' || *value == '\t'); value++) {}
        while (tail > value && (tail[-1] == ' ' || tail[-1] == '\t')) tail--;
        for (const char *c = value; c < tail; c++)
            if ((*c < ' ' || *c > '~') && *c != '\t') goto odd;
        Py_ssize_t named = colon - line, said = tail - value;
        if (named == 17 && same_name(line, "transfer-encoding", 17)) goto odd;
        if (named == 14 && same_name(line, "content-length", 14)) {
            if (length >= 0 || said == 0 || said > 18) goto odd;
            for (length = 0; value < tail; value++) {
                if (*value < '0' || *value > '9') goto odd;
                length = length * 10 + *value - '0';
            }
            value = tail - said;
        } else if (named == 10 && same_name(line, "connection", 10)) {
            if (said == 5 && same_name(value, "close", 5)) open = 0;
            else if (said != 10 || !same_name(value, "keep-alive", 10)) goto odd;
        }
        PyObject *field = Py_BuildValue("(s#s#)", line, named, value, said);
        if (field == NULL || PyList_Append(fields, field) < 0) {
            Py_XDECREF(field);
            Py_DECREF(fields);
            return NULL;
        }
        Py_DECREF(field);
    }
    if (length < 0) goto odd;
    answer = PyList_AsTuple(fields);
    Py_DECREF(fields);
    if (answer == NULL) return NULL;
    return Py_BuildValue("(nis#NLi)", (Py_ssize_t)(line + 2 - p), status, reason,
                         (Py_ssize_t)(reason_end - reason), answer, length, open);
odd:
    Py_DECREF(fields);
    Py_RETURN_NONE;
}

/* ---- HTML ---------------------------------------------------------------------------------- */

/* The tags of an HTML document that may refer to something (text/links/html_links.py): a browser's tokenizer
 * (HTML, section 13.2.5) over latin-1 bytes, without a tree. */
typedef struct {
    const unsigned char *p;
    Py_ssize_t size;
} View;

typedef struct {
    Py_ssize_t start, end; /* of the name; the value follows */
    Py_ssize_t value, stop;
} Attribute;

static int blank(int c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
static int letter(int c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }

/* One of a list of words in lower case that ends with NULL, in any case. */
static int one_of(const unsigned char *p, Py_ssize_t size, const char *const *words) {
    for (; *words; words++)
        if (strlen(*words) == (size_t)size && same_name((const char *)p, *words, size)) return 1;
    return 0;
}

static int begins(const unsigned char *p, Py_ssize_t size, const char *word) {
    Py_ssize_t length = (Py_ssize_t)strlen(word);
    return size >= length && same_name((const char *)p, word, length);
}

static const char *const TURNS[] = {
    "script", "style", "svg", "title", "textarea", "iframe", "xmp", "math", "plaintext",
    "noframes", "noembed", NULL,
};
static const char *const ELEMENTS[] = {
    "a", "area", "link", "base", "meta", "form", "img", "image", "picture", "source", "video",
    "audio", "track", "input", "script", "iframe", "frame", "object", "embed", "param", "applet",
    "bgsound", "use", NULL,
};
static const char *const SHAPES[] = {
    "path", "g", "circle", "rect", "line", "polygon", "polyline", "ellipse", "defs", "stop", NULL,
};

/* The next attribute of a tag at *at: 1; or 0, with *at behind its `>`; or -1, the document ends. */
static int next_attribute(View view, Py_ssize_t *at, Attribute *found) {
    const unsigned char *p = view.p;
    Py_ssize_t i = *at, size = view.size;
    while (i < size && (blank(p[i]) || p[i] == '/')) i++;
    if (i >= size) return -1;
    if (p[i] == '>') {
        *at = i + 1;
        return 0;
    }
    found->start = i++;
    while (i < size && !blank(p[i]) && p[i] != '/' && p[i] != '>' && p[i] != '=') i++;
    found->end = found->value = found->stop = i;
    Py_ssize_t k = i;
    while (k < size && blank(p[k])) k++;
    if (k < size && p[k] == '=') {
        for (k++; k < size && blank(p[k]); k++) {}
        if (k >= size) return -1;
        if (p[k] == '"' || p[k] == '\'') {
            const unsigned char *close = memchr(p + k + 1, p[k], size - k - 1);
            if (close == NULL) return -1;
            found->value = k + 1;
            found->stop = close - p;
            i = found->stop + 1;
        } else {
            found->value = k;
            while (k < size && !blank(p[k]) && p[k] != '>') k++;
            i = found->stop = k;
        }
    }
    *at = i;
    return 1;
}

static int has(View view, Attribute a, int first, int second) {
    Py_ssize_t length = a.stop - a.value;
    return memchr(view.p + a.value, first, length) || memchr(view.p + a.value, second, length);
}

/* Whether any element may refer to something by this attribute. */
static int notable(View view, Attribute a) {
    const unsigned char *name = view.p + a.start;
    Py_ssize_t length = a.end - a.start;
    if (length < 5) return 0;
    if (length == 5 && begins(name, length, "style")) return has(view, a, '(', '&');
    if (begins(name, length, "data-")) return length > 5 && strchr("bhlopsBHLOPS", name[5]) != NULL;
    return length == 10 && begins(name, length, "background");
}

/* Behind a drawing of shapes that refer to nothing whose tag begins at i; -1 if it is another. */
static Py_ssize_t behind_icon(View view, Py_ssize_t i) {
    const unsigned char *p = view.p;
    int first = 1;
    for (;;) {
        const unsigned char *mark = memchr(p + i, '<', view.size - i);
        if (mark == NULL || mark + 2 >= p + view.size) return -1;
        int closing = mark[1] == '/';
        Py_ssize_t at = mark - p + 1 + closing, start = at;
        while (at < view.size && letter(p[at])) at++;
        if (at >= view.size || !(p[at] == '>' || p[at] == '/' || blank(p[at]))) return -1;
        int drawing = at - start == 3 && !memcmp(p + start, "svg", 3);
        if (!drawing || closing == first) {
            int shape = 0;
            for (const char *const *word = SHAPES; *word && !shape; word++)
                shape = strlen(*word) == (size_t)(at - start) && !memcmp(p + start, *word, at - start);
            if (!shape) return -1;
        } else if (!first && !closing) {
            return -1; /* one inside another */
        }
        Attribute a = {0, 0, 0, 0};
        int more;
        while ((more = next_attribute(view, &at, &a)) == 1) {
            const unsigned char *name = p + a.start;
            Py_ssize_t length = a.end - a.start;
            if (begins(name, length, "xl") || begins(name, length, "hr") ||
                begins(name, length, "sr") || notable(view, a) || has(view, a, '(', '&'))
                return -1;
        }
        if (more < 0) return -1;
        /* A slash at the end of a value that has no quotes belongs to the value. */
        int empty = p[at - 2] == '/' && a.stop < at - 1;
        if (drawing && (closing || empty)) return at;
        first = 0;
        i = at;
    }
}

/* Behind a comment, doctype, processing instruction or `</ ...>` that begins at i. */
static Py_ssize_t behind_other(View view, Py_ssize_t i) {
    const unsigned char *p = view.p, *end = p + view.size, *at = p + i + 2;
    if (p[i + 1] == '!' && end - at >= 2 && at[0] == '-' && at[1] == '-') {
        at += 2;
        if (at < end && *at == '>') return at + 1 - p;
        if (end - at >= 2 && at[0] == '-' && at[1] == '>') return at + 2 - p;
        while (at < end && (at = memchr(at, '-', end - at)) != NULL) {
            if (end - at >= 3 && at[1] == '-' && at[2] == '>') return at + 3 - p;
            if (end - at >= 4 && at[1] == '-' && at[2] == '!' && at[3] == '>') return at + 4 - p;
            at++;
        }
        return view.size;
    }
    const unsigned char *close = at < end ? memchr(at, '>', end - at) : NULL;
    return close ? close + 1 - p : view.size;
}

static PyObject *slice(View view, Py_ssize_t start, Py_ssize_t end) {
    return PyUnicode_FromKindAndData(PyUnicode_1BYTE_KIND, view.p + start, end - start);
}

static PyObject *small_name(View view, Py_ssize_t start, Py_ssize_t end) {
    PyObject *name = slice(view, start, end), *folded = NULL;
    if (name != NULL) folded = PyObject_CallMethod(name, "lower", NULL);
    Py_XDECREF(name);
    return folded;
}

/* Whether a reference is all ASCII, has no entity, no blank at an end, and no scheme that leads
 * nowhere (text/links/link.py, SUSPECT). */
static int plain_reference(View view, Attribute href) {
    const unsigned char *p = view.p + href.value, *end = view.p + href.stop;
    if (p == end || *p <= ' ' || *p == '#' || strchr("jdmtab", *p | 32) || end[-1] <= ' ') return 0;
    for (; p < end; p++)
        if (*p == '&' || *p >= 128) return 0;
    return 1;
}

/* A link like another one, but with this reference, which is taken over. */
static PyObject *linked(PyObject *link, PyObject *reference) {
    PyTypeObject *type = Py_TYPE(link);
    PyObject *made = type->tp_alloc(type, PyTuple_GET_SIZE(link));
    if (made == NULL) {
        Py_DECREF(reference);
        return NULL;
    }
    PyTuple_SET_ITEM(made, 0, reference);
    for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(link); i++)
        PyTuple_SET_ITEM(made, i, Py_NewRef(PyTuple_GET_ITEM(link, i)));
    return made;
}

/* The place after a start tag at i, with what it may refer to put into `found`; -1: no more. *turn
 * says that something other than markup begins there, or may. */
static Py_ssize_t start_tag(View view, Py_ssize_t i, PyObject *link, PyObject *found, int *turn) {
    const unsigned char *p = view.p;
    Py_ssize_t start = i + 1, at = start;
    int custom = 0;
    while (at < view.size && !blank(p[at]) && p[at] != '/' && p[at] != '>') custom |= p[at++] == '-';
    Py_ssize_t name_end = at, length = at - start;
    int anchor = length == 1 && (p[start] | 32) == 'a', odd = custom, attributes = 0;
    Attribute a, href = {0, 0, 0, -1};
    int more;
    while ((more = next_attribute(view, &at, &a)) == 1) {
        attributes = 1;
        if (notable(view, a)) odd = 1;
        if (!anchor) continue;
        Py_ssize_t size = a.end - a.start;
        if (size == 4 && href.stop < 0 && begins(p + a.start, 4, "href")) href = a;
        if (size == 10 && begins(p + a.start, 10, "xlink:href")) odd = 1;
    }
    if (more < 0) return -1;
    *turn = !anchor && length < 10 && one_of(p + start, length, TURNS);
    if (*turn && length == 6 && begins(p + start, length, "script"))
        *turn = !begins(p + at, view.size - at, "</script>"); /* or there is nothing in it */
    if (*turn) return at;
    PyObject *hit = NULL;
    if (anchor && !odd) {
        if (href.stop < 0) return at;
        hit = slice(view, href.value, href.stop);
        if (hit != NULL && plain_reference(view, href)) hit = linked(link, hit);
    } else if (attributes && (odd || one_of(p + start, length, ELEMENTS))) {
        PyObject *name = small_name(view, start, name_end);
        PyObject *written = name ? slice(view, name_end, at - 1) : NULL;
        hit = written ? PyTuple_Pack(2, name, written) : NULL;
        Py_XDECREF(name);
        Py_XDECREF(written);
    } else {
        return at;
    }
    int failed = hit == NULL || PyList_Append(found, hit) < 0;
    Py_XDECREF(hit);
    return failed ? -2 : at;
}

static PyObject *tags(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (count != 4 || !PyUnicode_Check(args[0]) || !PyTuple_Check(args[3]) ||
        PyTuple_GET_SIZE(args[3]) == 0) {
        PyErr_SetString(PyExc_TypeError, "tags takes a text, a place, a number and a link");
        return NULL;
    }
    if (PyUnicode_READY(args[0]) < 0) return NULL;
    Py_ssize_t i = PyLong_AsSsize_t(args[1]), most = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred()) return NULL;
    if (PyUnicode_KIND(args[0]) != PyUnicode_1BYTE_KIND || i < 0) {
        PyErr_SetString(PyExc_ValueError, "tags reads latin-1, from a place inside");
        return NULL;
    }
    View view = {PyUnicode_1BYTE_DATA(args[0]), PyUnicode_GET_LENGTH(args[0])};
    PyObject *found = PyList_New(0);
    if (found == NULL) return NULL;
    while (i + 2 < view.size && PyList_GET_SIZE(found) < most) {
        const unsigned char *mark = memchr(view.p + i, '<', view.size - i);
        if (mark == NULL || mark + 2 >= view.p + view.size) break;
        i = mark - view.p;
        int c = mark[1], turn = 0;
        if (letter(c)) {
            Py_ssize_t start = i;
            if (c == 's' && begins(mark + 1, view.size - i - 1, "svg")) {
                Py_ssize_t behind = behind_icon(view, i);
                if (behind >= 0) {
                    i = behind;
                    continue;
                }
            }
            i = start_tag(view, i, args[3], found, &turn);
            if (i == -2) {
                Py_DECREF(found);
                return NULL;
            }
            if (turn) return Py_BuildValue("(Nnn)", found, start, i);
            if (i < 0) break;
        } else if (c == '/' && letter(mark[2])) {
            Attribute a;
            int more;
            i += 3;
            while (i < view.size && !blank(view.p[i]) && view.p[i] != '/' && view.p[i] != '>') i++;
            while ((more = next_attribute(view, &i, &a)) == 1) {}
            if (more < 0) break;
        } else if (c == '!' || c == '?' || (c == '/' && mark[2] != '>')) {
            i = behind_other(view, i);
        } else {
            i++;
        }
    }
    return Py_BuildValue("(Nnn)", found, (Py_ssize_t)-1, (Py_ssize_t)-1);
}

static PyMethodDef METHODS[] = {
    {"tags", (PyCFunction)(void (*)(void))tags, METH_FASTCALL,
     "The tags of a page that may refer to something."},
    {"unknown", (PyCFunction)(void (*)(void))unknown, METH_FASTCALL,
     "The references that mean a URL which is not known, with that URL."},
    {"plain_head", plain_head, METH_O, "What a plain head says, or None."},
    {"join", (PyCFunction)(void (*)(void))join, METH_FASTCALL, "Two parts of a URL as one."},
    {"base32", base32, METH_O, "RFC 4648 base32 of a digest."},
    {"find_member", (PyCFunction)(void (*)(void))find_member, METH_FASTCALL,
     "Where the next gzip member may begin."},
    {"response", response, METH_O, "What a row needs of a plain response, (), or None."},
    {"digests", digests, METH_O, "Where block and payload lie, and the digests they should have."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "asof._native", "What every record, link and page goes through.",
    0, METHODS, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__native(void) {
    fill_url_class();
    fill_token();
    return PyModule_Create(&MODULE);
}
