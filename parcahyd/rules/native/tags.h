/* What the two parts of the tag reader know of each other. */

#ifndef PARCAHYD_TAGS_H
#define PARCAHYD_TAGS_H

#include <stdint.h>

typedef const uint8_t *Bytes;

typedef enum {
    READ,
    ODD,    /* the document wants a closer look */
    FAILED, /* there is an exception */
} Outcome;

typedef struct TagReader TagReader;

/* Once, before anything is scanned. */
void prepare_scanner(void);

/* Gives every tag that can carry a link to `take_tag`, in order. */
Outcome scan_document(TagReader *reader, Bytes at, Bytes end);

/* A tag as its name and attributes stand; of an anchor of which only the reference matters, `"` and its reference. */
Outcome take_tag(TagReader *reader, Bytes at, Bytes end);

#endif
