/* What the parts of the tag reader know of each other. */

#ifndef PARCAHYD_TAGS_H
#define PARCAHYD_TAGS_H

#include <stdint.h>

#ifdef Py_LIMITED_API
/* The leads of a document: see _tag_reader.pyi. */
PyObject *plain_leads(PyObject *module, PyObject *arguments);
#endif

typedef const uint8_t *Bytes;

typedef enum {
    READ,
    ODD,    /* the tree must be built */
    FAILED, /* there is an exception */
} Outcome;

typedef struct TagReader TagReader;

/* Once, before anything is scanned. */
void prepare_scanner(void);

/* Once, before any URL is made. */
void prepare_plain_links(void);

/* Gives every tag that can carry a link to `take_tag`, in order. */
Outcome scan_document(TagReader *reader, Bytes at, Bytes end);

/* Behind a character reference that means the same to everybody, or NULL; `meant` is what it means. */
Bytes plain_reference_end(Bytes at, Bytes end, uint8_t *meant);

/* A tag as its name and attributes stand; of an anchor of which only the reference matters, `"` and its reference. */
Outcome take_tag(TagReader *reader, Bytes at, Bytes end);

#endif
