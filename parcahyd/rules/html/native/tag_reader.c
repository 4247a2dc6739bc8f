/* Remembers the tags of documents, each by its key and lines as known_tags.py has them, and gives them to Python.
 *
 * Python is asked once what a new tag means; only anchors of the plainest form are understood here. Nothing is forgotten: Python
 * looks at the length of the reader, and takes a new reader when it is long. Long tags are not remembered. The hash of tags is
 * seeded by the interpreter's own, which is random, so that no page author can choose tags that collide. The interpreter's lock
 * guards everything; while one thread asks Python about a tag, other threads get None.
 */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "tags.h"

#include <string.h>

#define LONGEST_KNOWN 600 /* bytes of a tag that is remembered */
#define MOST 100000       /* tags of a document, and lines of its table, that are read here */
#define NOTHING 0         /* the number of the text of tags that bring nothing */
#define FIRST_SLOTS 1024

/* --- what is remembered ----------------------------------------------------------------------------------------------- */

/* A tag, by which text it is known. */
typedef struct {
    uint64_t hash;
    uint32_t at;     /* in the arena */
    uint32_t length; /* 0: a free slot */
    uint32_t text;
} Slot;

/* A key, or a line, or both: most keys are the one line of their tag. A marked key is none, and names its lines. */
typedef struct {
    PyObject *bytes;
    const char *at;
    size_t length;
    uint64_t listed_in;  /* the last document that had it as a key */
    uint64_t written_in; /* the last document that had it as a line */
    uint32_t first_line; /* in `lines` */
    uint32_t line_count;
    uint8_t is_marked;
} Text;

/* A growing array: `items`, of which `count` are in use. */
#define ARRAY(type) struct { type *items; size_t count, room; }

struct TagReader {
    PyObject_HEAD
    uint64_t seed, factor;
    Slot *slots;
    size_t slot_count, known;
    ARRAY(uint8_t) arena;   /* the bytes of tags */
    ARRAY(Text) texts;
    ARRAY(uint32_t) lines;  /* numbers of texts */
    PyObject *numbers;      /* of texts, by their bytes */
    /* The document that is read: */
    uint64_t document;
    PyObject *learn;        /* whom to ask about a new tag; NULL while nothing is read */
    size_t tag_count, line_count, marked_count;
    ARRAY(uint32_t) found;  /* its keys: numbers of texts */
    ARRAY(uint8_t) table;
};

/* `place` is that of the pointer to the items, of whatever type. */
static int grow(void *place, size_t *room, size_t size, size_t wanted)
{
    size_t more = *room ? *room : 64;
    while (more < wanted)
        more *= 2;
    void *items;
    memcpy(&items, place, sizeof items);
    items = PyMem_Realloc(items, more * size);
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(place, &items, sizeof items);
    *room = more;
    return 0;
}

#define ROOM_FOR(array, more) \
    ((array).count + (more) <= (array).room \
         ? 0 \
         : grow(&(array).items, &(array).room, sizeof *(array).items, (array).count + (more)))

static uint64_t folded(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_of(const TagReader *self, Bytes at, size_t length)
{
    uint64_t hash = self->seed ^ length, word;
    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        hash = folded(hash ^ word, self->factor);
    }
    word = 0;
    memcpy(&word, at, length);
    return folded(hash ^ word, self->factor);
}

static size_t free_slot(const Slot *slots, size_t count, uint64_t hash)
{
    size_t place = hash & (count - 1);
    while (slots[place].length)
        place = (place + 1) & (count - 1);
    return place;
}

/* Moves what is remembered into so many slots, a power of two. */
static int make_slots(TagReader *self, size_t count)
{
    Slot *slots = PyMem_Calloc(count, sizeof *slots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < self->slot_count; i++)
        if (self->slots[i].length)
            slots[free_slot(slots, count, self->slots[i].hash)] = self->slots[i];
    PyMem_Free(self->slots);
    self->slots = slots;
    self->slot_count = count;
    return 0;
}

static int remember(TagReader *self, uint64_t hash, Bytes at, size_t length, uint32_t text)
{
    if (2 * (self->known + 1) > self->slot_count && make_slots(self, 2 * self->slot_count) < 0)
        return -1;
    if (ROOM_FOR(self->arena, length) < 0)
        return -1;
    size_t place = free_slot(self->slots, self->slot_count, hash);
    self->slots[place] = (Slot){hash, (uint32_t)self->arena.count, (uint32_t)length, text};
    memcpy(self->arena.items + self->arena.count, at, length);
    self->arena.count += length;
    self->known++;
    return 0;
}

/* The number of a text, which gets one if it has none; -1 with an exception. Empty is NOTHING. */
static long number_of(TagReader *self, PyObject *bytes)
{
    if (PyBytes_Size(bytes) == 0)
        return NOTHING;
    PyObject *known = PyDict_GetItemWithError(self->numbers, bytes);
    if (known != NULL)
        return PyLong_AsLong(known);
    if (PyErr_Occurred() || ROOM_FOR(self->texts, 1) < 0)
        return -1;
    PyObject *number = PyLong_FromSize_t(self->texts.count);
    int failed = number == NULL || PyDict_SetItem(self->numbers, bytes, number) < 0;
    Py_XDECREF(number);
    if (failed)
        return -1;
    Text text = {.bytes = Py_NewRef(bytes), .at = PyBytes_AsString(bytes), .length = (size_t)PyBytes_Size(bytes)};
    self->texts.items[self->texts.count] = text;
    return (long)self->texts.count++;
}

/* Has a marked key name its lines, each of which ends with LF. */
static int name_lines(TagReader *self, long key, PyObject *lines)
{
    const char *at = PyBytes_AsString(lines), *end = at + PyBytes_Size(lines);
    uint32_t first = (uint32_t)self->lines.count;
    while (at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        next = next == NULL ? end : next + 1;
        PyObject *line = PyBytes_FromStringAndSize(at, next - at);
        long number = line == NULL ? -1 : number_of(self, line);
        Py_XDECREF(line);
        if (number < 0 || ROOM_FOR(self->lines, 1) < 0)
            return -1;
        self->lines.items[self->lines.count++] = (uint32_t)number;
        at = next;
    }
    Text *text = &self->texts.items[key];
    text->is_marked = 1;
    text->first_line = first;
    text->line_count = (uint32_t)self->lines.count - first;
    return 0;
}

/* The number of the key of a plain anchor, which is given by `"` and its reference; NOTHING where it is not so plain. */
static long learn_plain(TagReader *self, Bytes at, size_t length)
{
    char key[LONGEST_KNOWN + 2] = "a\t", *next = key + 2;
    Bytes end = at + length;
    if (length < 2 || length > LONGEST_KNOWN || *at++ != '"')
        return NOTHING;
    while (at < end) {
        uint8_t meant = *at;
        if (meant < '!' || meant > '~')
            return NOTHING;
        at = meant == '&' ? plain_reference_end(at, end, &meant) : at + 1;
        if (at == NULL)
            return NOTHING;
        *next++ = (char)meant;
    }
    if (key[2] == '?')
        return NOTHING;
    *next++ = '\n';
    PyObject *bytes = PyBytes_FromStringAndSize(key, next - key);
    long number = bytes == NULL ? -1 : number_of(self, bytes);
    Py_XDECREF(bytes);
    return number;
}

/* The number of the key of a tag that is not known; -1 with an exception. */
static long learn(TagReader *self, Bytes at, size_t length)
{
    long number = learn_plain(self, at, length);
    if (number != NOTHING)
        return number;
    PyObject *raw = PyBytes_FromStringAndSize((const char *)at, (Py_ssize_t)length);
    PyObject *told = raw == NULL ? NULL : PyObject_CallFunctionObjArgs(self->learn, raw, NULL);
    if (told != NULL && !PyTuple_Check(told))
        PyErr_SetString(PyExc_TypeError, "what is told of a tag is a tuple: its key and its lines");
    PyObject *key, *lines;
    int is_told = told != NULL && PyTuple_Check(told) && PyArg_ParseTuple(told, "SS", &key, &lines);
    number = is_told ? number_of(self, key) : -1;
    if (number > NOTHING && PyBytes_AsString(key)[0] == '\0' && !self->texts.items[number].is_marked
        && name_lines(self, number, lines) < 0)
        number = -1;
    Py_XDECREF(told);
    Py_XDECREF(raw);
    return number;
}

/* --- one document ----------------------------------------------------------------------------------------------------- */

static Outcome write_line(TagReader *self, Text *line)
{
    if (line->written_in == self->document)
        return READ;
    line->written_in = self->document;
    if (++self->line_count > MOST)
        return ODD;
    if (ROOM_FOR(self->table, line->length) < 0)
        return FAILED;
    memcpy(self->table.items + self->table.count, line->at, line->length);
    self->table.count += line->length;
    return READ;
}

static Outcome list_key(TagReader *self, uint32_t number)
{
    Text *key = &self->texts.items[number];
    if (number == NOTHING || key->listed_in == self->document)
        return READ;
    key->listed_in = self->document;
    if (ROOM_FOR(self->found, 1) < 0)
        return FAILED;
    self->found.items[self->found.count++] = number;
    if (!key->is_marked)
        return write_line(self, key);
    self->marked_count++;
    Outcome outcome = READ;
    for (uint32_t i = 0; i < key->line_count && outcome == READ; i++)
        outcome = write_line(self, &self->texts.items[self->lines.items[key->first_line + i]]);
    return outcome;
}

Outcome take_tag(TagReader *self, Bytes at, Bytes end)
{
    size_t length = (size_t)(end - at);
    int is_known_by_its_bytes = length <= LONGEST_KNOWN;
    uint64_t hash = is_known_by_its_bytes ? hash_of(self, at, length) : 0;
    if (++self->tag_count > MOST)
        return ODD;
    if (is_known_by_its_bytes) {
        size_t place = hash & (self->slot_count - 1);
        for (Slot *slot; (slot = &self->slots[place])->length; place = (place + 1) & (self->slot_count - 1))
            if (slot->hash == hash && slot->length == length && memcmp(self->arena.items + slot->at, at, length) == 0)
                return list_key(self, slot->text);
    }
    long key = learn(self, at, length);
    if (key < 0 || (is_known_by_its_bytes && remember(self, hash, at, length, (uint32_t)key) < 0))
        return FAILED;
    return list_key(self, (uint32_t)key);
}

/* What was found: (keys, table, marked keys). */
static PyObject *result_of(TagReader *self)
{
    PyObject *keys = PyList_New((Py_ssize_t)self->found.count);
    PyObject *marked = PyList_New((Py_ssize_t)self->marked_count);
    PyObject *table = PyBytes_FromStringAndSize((const char *)self->table.items, (Py_ssize_t)self->table.count);
    PyObject *result = NULL;
    if (keys != NULL && marked != NULL && table != NULL) {
        Py_ssize_t next = 0;
        for (size_t i = 0; i < self->found.count; i++) {
            const Text *key = &self->texts.items[self->found.items[i]];
            PyList_SetItem(keys, (Py_ssize_t)i, Py_NewRef(key->bytes));
            if (key->is_marked)
                PyList_SetItem(marked, next++, Py_NewRef(key->bytes));
        }
        result = PyTuple_Pack(3, keys, table, marked);
    }
    Py_XDECREF(keys);
    Py_XDECREF(marked);
    Py_XDECREF(table);
    return result;
}

/* --- to Python -------------------------------------------------------------------------------------------------------- */

static PyObject *reader_read(TagReader *self, PyObject *arguments)
{
    PyObject *body, *learn;
    if (!PyArg_ParseTuple(arguments, "SO", &body, &learn))
        return NULL;
    if (self->learn != NULL) /* Another thread reads a document, and waits for Python. */
        Py_RETURN_NONE;
    self->learn = learn;
    self->document++;
    self->tag_count = self->line_count = self->marked_count = self->found.count = self->table.count = 0;
    Bytes first = (Bytes)PyBytes_AsString(body);
    Outcome outcome = scan_document(self, first, first + PyBytes_Size(body));
    self->learn = NULL;
    if (outcome == FAILED)
        return NULL;
    return outcome == READ ? result_of(self) : Py_NewRef(Py_None);
}

static Py_ssize_t reader_length(TagReader *self)
{
    return (Py_ssize_t)self->known;
}

/* The interpreter's hash of a text is random in each process. */
static int seed(TagReader *self)
{
    PyObject *text = PyUnicode_FromString("the tags of documents");
    if (text == NULL)
        return -1;
    self->seed = (uint64_t)PyObject_Hash(text) * 0x9E3779B97F4A7C15u;
    self->factor = folded(self->seed, 0xD6E8FEB86659FD93u) | 1;
    Py_DECREF(text);
    return 0;
}

static PyObject *reader_new(PyTypeObject *type, PyObject *arguments, PyObject *words)
{
    static char *names[] = {NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, words, "", names))
        return NULL;
    TagReader *self = (TagReader *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (self == NULL)
        return NULL;
    self->numbers = PyDict_New();
    if (self->numbers == NULL || seed(self) < 0 || make_slots(self, FIRST_SLOTS) < 0 || ROOM_FOR(self->texts, 1) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    self->texts.items[NOTHING] = (Text){.bytes = NULL};
    self->texts.count = NOTHING + 1;
    return (PyObject *)self;
}

static void reader_dealloc(TagReader *self)
{
    PyTypeObject *type = Py_TYPE((PyObject *)self);
    for (size_t i = NOTHING + 1; i < self->texts.count; i++)
        Py_DECREF(self->texts.items[i].bytes);
    Py_XDECREF(self->numbers);
    PyMem_Free(self->slots);
    PyMem_Free(self->arena.items);
    PyMem_Free(self->texts.items);
    PyMem_Free(self->lines.items);
    PyMem_Free(self->found.items);
    PyMem_Free(self->table.items);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

static PyMethodDef reader_methods[] = {
    {"read", (PyCFunction)reader_read, METH_VARARGS,
     "The keys of a document's tags, its table, and those of its keys that are marked; None where others must read it."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot reader_slots[] = {
    {Py_tp_new, reader_new},
    {Py_tp_dealloc, reader_dealloc},
    {Py_tp_methods, reader_methods},
    {Py_sq_length, reader_length},
    {Py_tp_doc, "Reads the tags of documents. `learn`, which is handed in, tells the key and the lines of a new one."},
    {0, NULL},
};

static PyType_Spec reader_spec = {
    "parcahyd.rules.html._tag_reader.TagReader", sizeof(TagReader), 0, Py_TPFLAGS_DEFAULT, reader_slots,
};

static int fill_module(PyObject *module)
{
    prepare_scanner();
    prepare_plain_links();
    PyObject *type = PyType_FromSpec(&reader_spec);
    int failed = type == NULL || PyModule_AddObjectRef(module, "TagReader", type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyMethodDef module_methods[] = {
    {"plain_leads", plain_leads, METH_VARARGS,
     "The URLs of a document's plain references that were not met before, and its keys that are not so plain, in order."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};

static PyModuleDef module = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "parcahyd.rules.html._tag_reader",
    .m_doc = "The tags of documents, read by machine code.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__tag_reader(void)
{
    return PyModuleDef_Init(&module);
}
