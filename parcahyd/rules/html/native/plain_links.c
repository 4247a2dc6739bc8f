/* Makes URLs of the plain references in a document's keys: what plain_way of canonical_url.py tells, for many at once.
 *
 * Nearly every key is that of an anchor whose reference becomes a URL by a prefix alone, and nearly every such URL was met on a
 * page before. So Python is given those that are new, and the few keys that want a closer look.
 */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "tags.h"

#include <string.h>

#define LONGEST 4096 /* bytes of a URL that is made here */

enum {
    IN_SEGMENT = 1,
    BEGINS_SEGMENT = 2,
    IN_QUERY = 4,
    IN_LABEL = 8, /* of a host */
    LOWER = 16,
};

/* Which of the prefixes a reference needs, as plain_way has them; else as many characters of `../` as it begins with. */
enum { NO_PREFIX = -2, ORIGIN = -1 };

static uint8_t kind[256];

static void mark(const char *bytes, uint8_t what)
{
    for (; *bytes; bytes++)
        kind[(uint8_t)*bytes] |= what;
}

void prepare_plain_links(void)
{
    mark("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~!$&()*+,;=@-", IN_SEGMENT | BEGINS_SEGMENT | IN_QUERY);
    mark(".", IN_SEGMENT | IN_QUERY);
    mark(":/?", IN_QUERY);
    mark("abcdefghijklmnopqrstuvwxyz0123456789-", IN_LABEL);
    mark("abcdefghijklmnopqrstuvwxyz", LOWER);
}

#define IS(byte, what) (kind[byte] & (what))

/* Behind `https://host/`, or NULL: the host is no number, and holds no punycode. */
static Bytes origin_end(Bytes at, Bytes end)
{
    if (end - at < 8 || memcmp(at, "http", 4) != 0)
        return NULL;
    at += at[4] == 's' ? 5 : 4;
    if (end - at < 3 || memcmp(at, "://", 3) != 0)
        return NULL;
    at += 3;
    for (int labels = 0;; labels++) {
        Bytes label = at;
        int is_name = 1;
        if (end - at >= 4 && memcmp(at, "xn--", 4) == 0)
            return NULL;
        for (; at < end && IS(*at, IN_LABEL); at++)
            is_name = is_name && IS(*at, LOWER);
        if (at == end || at == label)
            return NULL;
        if (*at == '/')
            return labels && is_name && at - label >= 2 ? at + 1 : NULL;
        if (*at++ != '.')
            return NULL;
    }
}

/* Whether a reference is plain; then `way` is its prefix, and `rest` what follows that. */
static int is_plain(Bytes at, Bytes end, long *way, Bytes *rest)
{
    Bytes behind = origin_end(at, end);
    *rest = at;
    if (at == end || *at == '?')
        return 0;
    if (behind != NULL) {
        *way = NO_PREFIX;
        at = behind;
    } else if (*at == '/') {
        *way = ORIGIN;
        at++;
    } else {
        while (end - at >= 3 && memcmp(at, "../", 3) == 0)
            at += 3;
        *way = (long)(at - *rest);
        *rest = at;
    }
    while (at < end && IS(*at, BEGINS_SEGMENT)) {
        while (at < end && IS(*at, IN_SEGMENT))
            at++;
        if (at == end || *at != '/')
            break;
        at++;
    }
    if (at < end && *at == '?') {
        Bytes query = ++at;
        while (at < end && IS(*at, IN_QUERY))
            at++;
        if (at == query)
            return 0;
    }
    return at == end;
}

/* The URL that a key's reference makes, or None where it takes more than a prefix; NULL with an exception. */
static PyObject *url_of(PyObject *key, PyObject *prefixes)
{
    char *text, url[LONGEST];
    Py_ssize_t length, before;
    long way;
    Bytes rest;
    if (PyBytes_AsStringAndSize(key, &text, &length) < 0)
        return NULL;
    Bytes end = (Bytes)text + length - 1; /* the LF of its line */
    if (length < 4 || memcmp(text, "a\t", 2) != 0 || !is_plain((Bytes)text + 2, end, &way, &rest))
        return Py_NewRef(Py_None);
    PyObject *number = PyLong_FromLong(way);
    PyObject *prefix = number == NULL ? NULL : PyObject_GetItem(prefixes, number); /* It may be made now. */
    const char *start = prefix == NULL ? NULL : PyUnicode_AsUTF8AndSize(prefix, &before);
    PyObject *made = NULL;
    if (start != NULL && before + (end - rest) <= LONGEST) {
        memcpy(url, start, (size_t)before);
        memcpy(url + before, rest, (size_t)(end - rest));
        made = PyUnicode_FromStringAndSize(url, before + (end - rest));
    } else if (start != NULL) {
        made = Py_NewRef(Py_None);
    }
    Py_XDECREF(number);
    Py_XDECREF(prefix);
    return made;
}

/* Adds to a set: 1 where it was not in it, 0 where it was, -1 with an exception. */
static int add(PyObject *set, PyObject *item)
{
    Py_ssize_t before = PySet_Size(set);
    if (before < 0 || PySet_Add(set, item) < 0)
        return -1;
    return PySet_Size(set) > before;
}

/* Takes one key: a URL that is new, or the key itself, is appended to the leads. */
static int follow(PyObject *leads, PyObject *key, PyObject *seen, PyObject *prefixes, PyObject *targets)
{
    int is_new = add(seen, key);
    if (is_new <= 0)
        return is_new;
    PyObject *url = url_of(key, prefixes);
    if (url == NULL)
        return -1;
    is_new = url == Py_None ? 1 : add(targets, url);
    if (is_new > 0)
        is_new = PyList_Append(leads, url == Py_None ? key : url);
    Py_DECREF(url);
    return is_new;
}

PyObject *plain_leads(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *keys, *seen, *prefixes, *targets;
    if (!PyArg_ParseTuple(arguments, "OOOO", &keys, &seen, &prefixes, &targets))
        return NULL;
    PyObject *turn = PyObject_GetIter(keys), *key;
    PyObject *leads = turn == NULL ? NULL : PyList_New(0);
    while (leads != NULL && (key = PyIter_Next(turn)) != NULL) {
        if (follow(leads, key, seen, prefixes, targets) < 0)
            Py_CLEAR(leads);
        Py_DECREF(key);
    }
    Py_XDECREF(turn);
    if (PyErr_Occurred())
        Py_CLEAR(leads);
    return leads;
}
