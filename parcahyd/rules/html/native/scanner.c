/* Scans the tags of an ordinary HTML page, in one pass, as the WHATWG's tokenizer reads them.
 *
 * It stays within a grammar in which the tree builder can neither drop nor add a link:
 *
 * - attributes as `name`, `name=value`, `name="value"`, `name='value'`, with nothing odd between them;
 * - comments, doctypes and end tags that end; raw text (script, style, title, textarea, ...) that ends, and scripts without
 *   `<!--`, which would change how they end;
 * - no svg but plain drawings, no form within a form, no NUL, none of base, template, math, select, frameset, frame, image,
 *   plaintext.
 *
 * A page that leaves the grammar is ODD: links.py builds its tree then. It needs nothing of Python.
 *
 * Pages may be hostile: every read is bounded by `end`, nothing recurses, and each byte is looked at a bounded number of times.
 */

#include "tags.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* --- bytes ------------------------------------------------------------------------------------------------------------ */

enum {
    SPACE = 1,      /* what separates attributes */
    NAME_END = 2,   /* what ends a tag's name: white space, / and > */
    STOP = 4,       /* what ends a run between values: > " ' = < */
    BARE_STOP = 8,  /* what ends a value without quotes */
    LETTER = 16,
    IN_NAME = 32,   /* of an attribute's name in plain form */
    NO_NAME = 64,   /* before an equals sign: there is no name */
};

static uint8_t kind[256];

static void mark(const char *bytes, uint8_t what)
{
    for (; *bytes; bytes++)
        kind[(uint8_t)*bytes] |= what;
}

static void fill_kinds(void)
{
    mark("\t\n\f\r ", SPACE | NAME_END | BARE_STOP | NO_NAME);
    mark("/", NAME_END | NO_NAME);
    mark(">", NAME_END | STOP | BARE_STOP);
    mark("=<", STOP | BARE_STOP);
    mark("\"'", STOP | BARE_STOP | NO_NAME);
    mark("`", BARE_STOP);
    mark("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", LETTER | IN_NAME);
    mark("0123456789_:.-", IN_NAME);
}

#define IS(byte, what) (kind[byte] & (what))

/* Whether these letters, which are given in lower case, stand there. */
static int same_letters(Bytes at, Bytes end, const char *lower)
{
    for (; *lower; lower++, at++)
        if (at == end || (*at | 0x20) != (uint8_t)*lower)
            return 0;
    return 1;
}

/* Tags are short and many, so that a call for each of their parts would cost more than the search: sixteen bytes at a time
 * here, where the processor can; the loops are the same for the rest, and for other processors. */

/* The first such byte, or `end`. */
static inline Bytes find(Bytes at, Bytes end, uint8_t byte)
{
#ifdef __SSE2__
    for (int turns = 0; end - at >= 16; at += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)at);
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(some, _mm_set1_epi8((char)byte)));
        if (found)
            return at + __builtin_ctz(found);
        if (++turns == 8)
            break;
    }
#endif
    Bytes found_at = memchr(at, byte, (size_t)(end - at));
    return found_at == NULL ? end : found_at;
}

#ifdef __SSE2__
/* A bit for each STOP of sixteen bytes. */
static inline unsigned stops_in(__m128i some)
{
    __m128i above = _mm_sub_epi8(some, _mm_set1_epi8('<')); /* < = > follow each other */
    __m128i stops = _mm_cmpeq_epi8(_mm_min_epu8(above, _mm_set1_epi8(2)), above);
    stops = _mm_or_si128(stops, _mm_cmpeq_epi8(some, _mm_set1_epi8('"')));
    stops = _mm_or_si128(stops, _mm_cmpeq_epi8(some, _mm_set1_epi8('\'')));
    return (unsigned)_mm_movemask_epi8(stops);
}
#endif

/* The first STOP, or `end`. */
static inline Bytes find_stop(Bytes at, Bytes end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        unsigned found = stops_in(_mm_loadu_si128((const __m128i *)at));
        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    while (at < end && !IS(*at, STOP))
        at++;
    return at;
}

/* The end of a tag's name (a control character, white space, a slash or a STOP) and the first STOP; either may be `end`. */
static inline Bytes find_name_end(Bytes at, Bytes end, Bytes *stop)
{
#ifdef __SSE2__
    if (end - at >= 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)at);
        unsigned stops = stops_in(some);
        if (stops) {
            __m128i ends = _mm_cmpeq_epi8(_mm_min_epu8(some, _mm_set1_epi8(' ')), some);
            ends = _mm_or_si128(ends, _mm_cmpeq_epi8(some, _mm_set1_epi8('/')));
            *stop = at + __builtin_ctz(stops);
            return at + __builtin_ctz((unsigned)_mm_movemask_epi8(ends) | stops);
        }
    }
#endif
    *stop = find_stop(at, end);
    while (at < *stop && *at > ' ' && *at != '/')
        at++;
    return at;
}

/* The end of a run of attributes, which is its `>`, or NULL where it leaves the grammar. */
static Bytes attributes_end(Bytes at, Bytes end)
{
    for (;;) {
        at = find_stop(at, end);
        if (at == end)
            return NULL;
        if (*at == '>')
            return at;
        if (*at != '=' || IS(at[-1], NO_NAME))
            return NULL;
        if (++at == end)
            return NULL;
        if (*at == '"' || *at == '\'') {
            at = find(at + 1, end, *at);
            if (at == end)
                return NULL;
            at++;
        } else {
            Bytes value = at;
            while (at < end && !IS(*at, BARE_STOP))
                at++;
            if (at == value || at == end || !(IS(*at, SPACE) || *at == '>'))
                return NULL;
        }
    }
}

/* --- tags ------------------------------------------------------------------------------------------------------------- */

Bytes plain_reference_end(Bytes at, Bytes end, uint8_t *meant)
{
    *meant = '&';
    if (end - at >= 5 && memcmp(at, "&amp;", 5) == 0)
        return at + 5;
    if (end - at < 5 || at[1] != '#')
        return NULL;
    int number = 0, digits = 0;
    for (at += 2; at < end && digits < 4 && *at >= '0' && *at <= '9'; at++, digits++)
        number = 10 * number + *at - '0';
    /* Without leading zeros; references to the space and to `#` would change where it ends. */
    int is_plain = digits == (number < 100 ? 2 : 3) && number >= 33 && number <= 126 && number != '#';
    *meant = (uint8_t)number;
    return is_plain && at < end && *at == ';' ? at + 1 : NULL;
}

/* The first of `"`, `#` and `&`, or `end`. */
static inline Bytes find_reference_end(Bytes at, Bytes end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)at);
        __m128i ends = _mm_cmpeq_epi8(some, _mm_set1_epi8('"'));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(some, _mm_set1_epi8('#')));
        ends = _mm_or_si128(ends, _mm_cmpeq_epi8(some, _mm_set1_epi8('&')));
        unsigned found = (unsigned)_mm_movemask_epi8(ends);
        if (found)
            return at + __builtin_ctz(found);
    }
#endif
    while (at < end && *at != '"' && *at != '#' && *at != '&')
        at++;
    return at;
}

/* Behind the reference of an anchor; `at` is behind its quotation mark, which belongs to it. It ends before its fragment. */
static Bytes read_reference(Bytes at, Bytes end, Bytes reference[2])
{
    if (reference[0] != NULL)
        return NULL; /* There is another one. */
    reference[0] = at - 1;
    uint8_t meant;
    while ((at = find_reference_end(at, end)) < end && *at == '&')
        if ((at = plain_reference_end(at, end, &meant)) == NULL)
            return NULL;
    reference[1] = at;
    if (at < end && *at == '#') {
        if (at[-1] <= ' ')
            return NULL;
        at = find(at, end, '"');
    }
    return at == end ? NULL : at + 1;
}

/* Behind a value; `at` is behind its quotation mark. */
static inline Bytes value_end(Bytes at, Bytes end)
{
    at = find(at, end, '"');
    return at == end ? NULL : at + 1;
}

/* An anchor of plain form, without a relation; `at` is behind its name. Gives its `>`, and its reference, if it has one. */
static Bytes plain_anchor_end(Bytes at, Bytes end, Bytes reference[2])
{
    for (reference[0] = NULL; at != NULL;) {
        /* Nearly all attributes are these, in this form. */
        if (end - at >= 8) {
            if (memcmp(at, " class=\"", 8) == 0 || memcmp(at, " title=\"", 8) == 0) {
                at = value_end(at + 8, end);
                continue;
            }
            if (memcmp(at, " href=\"", 7) == 0) {
                at = read_reference(at + 7, end, reference);
                continue;
            }
        }
        Bytes blank = at;
        while (at < end && IS(*at, SPACE))
            at++;
        if (at < end && *at == '>')
            return at;
        if (at == end || at == blank || !IS(*at, LETTER))
            return NULL;
        Bytes name = at;
        while (at < end && IS(*at, IN_NAME))
            at++;
        if (end - at < 2 || at[0] != '=' || at[1] != '"')
            return NULL;
        size_t length = (size_t)(at - name);
        if ((length == 3 && same_letters(name, at, "rel")) || (length == 10 && same_letters(name, at, "xlink:href")))
            return NULL;
        if (length == 4 && same_letters(name, at, "href"))
            at = read_reference(at + 2, end, reference);
        else
            at = value_end(at + 2, end);
    }
    return NULL;
}

/* Whether a meta may refresh the page or speak to robots: whatever looks like it in any place is read by Python. */
static int may_matter(Bytes at, Bytes end)
{
    static const char *const words[] = {"noindex", "nofollow", "noarchive", "nocache", "none", "unavailable", "http-equiv"};
    for (; at < end; at++) {
        if (*at == '&' && at + 1 < end && at[1] == '#')
            return 1;
        uint8_t letter = *at | 0x20;
        if (letter == 'n' || letter == 'u' || letter == 'h')
            for (size_t i = 0; i < sizeof words / sizeof *words; i++)
                if (same_letters(at, end, words[i]))
                    return 1;
    }
    return 0;
}

/* Behind the end tag of raw text, or NULL; `at` is behind its start tag. A script in which a comment begins ends elsewhere. */
static Bytes raw_text_end(Bytes at, Bytes end, const char *name, int ends_at_comment)
{
    size_t length = strlen(name);
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        at++;
        if (at < end && *at == '/' && same_letters(at + 1, end, name)) {
            Bytes behind = at + 1 + length;
            if (behind < end && IS(*behind, NAME_END)) {
                while (behind < end && !IS(*behind, STOP))
                    behind++;
                return behind < end && *behind == '>' ? behind + 1 : NULL;
            }
        }
        if (ends_at_comment && end - at >= 3 && memcmp(at, "!--", 3) == 0)
            return NULL;
    }
    return NULL;
}

static Bytes comment_end(Bytes at, Bytes end)
{
    if ((at < end && *at == '>') || (end - at >= 2 && at[0] == '-' && at[1] == '>'))
        return NULL;
    while ((at = memchr(at, '-', (size_t)(end - at))) != NULL) {
        if (end - at >= 3 && at[1] == '-' && at[2] == '>')
            return at + 3;
        if (end - at >= 4 && at[1] == '-' && at[2] == '!' && at[3] == '>')
            return at + 4;
        at++;
    }
    return NULL;
}

/* The name that begins there, of those given (NULL ends them), if `what` follows it. */
static const char *named(Bytes at, Bytes end, const char *const *names, uint8_t what)
{
    for (; *names != NULL; names++) {
        size_t length = strlen(*names);
        if ((size_t)(end - at) > length && same_letters(at, end, *names) && IS(at[length], what))
            return *names;
    }
    return NULL;
}

static Bytes behind_blank_end(Bytes at, Bytes end)
{
    while (at < end && IS(*at, SPACE))
        at++;
    return at < end && *at == '>' ? at + 1 : NULL;
}

/* Behind a drawing of plain shapes, in which nothing is a link, or NULL; `at` is the `>` of its start tag. */
static Bytes drawing_end(Bytes at, Bytes end)
{
    static const char *const shapes[] = {
        "circle", "clippath", "defs", "ellipse", "g", "line", "lineargradient", "mask", "path", "polygon", "polyline",
        "radialgradient", "rect", "stop", "symbol", "text", "tspan", "use", NULL,
    };
    static const char *const texts[] = {"title", "desc", "style", NULL};
    static const char *const whole[] = {"svg", NULL};
    if (at[-1] == '/')
        return at[-2] == '"' || at[-2] == '\'' || at[-2] == ' ' ? at + 1 : NULL;
    const char *name;
    while ((at = memchr(at, '<', (size_t)(end - at))) != NULL) {
        at++;
        if (at < end && *at == '/') {
            at++;
            if (named(at, end, whole, SPACE | NAME_END))
                return behind_blank_end(at + 3, end);
            name = named(at, end, shapes, SPACE | NAME_END);
            at = name == NULL ? NULL : behind_blank_end(at + strlen(name), end);
        } else if ((name = named(at, end, shapes, NAME_END)) != NULL) {
            at = attributes_end(at + strlen(name), end);
        } else if ((name = named(at, end, texts, NAME_END)) != NULL) {
            at = attributes_end(at + strlen(name), end);
            if (at == NULL || at[-1] == '/' || (at = memchr(at, '<', (size_t)(end - at))) == NULL)
                return NULL;
            size_t length = strlen(name);
            int is_end = (size_t)(end - at) > length + 2 && at[1] == '/' && same_letters(at + 2, end, name);
            at = is_end && at[length + 2] == '>' ? at + length + 3 : NULL;
        } else {
            return NULL;
        }
        if (at == NULL)
            return NULL;
    }
    return NULL;
}

static Bytes behind_next(Bytes at, Bytes end, char byte)
{
    Bytes found = memchr(at, byte, (size_t)(end - at));
    return found == NULL ? NULL : found + 1;
}

/* What a name means. */
typedef enum {
    PLAIN,
    ANCHOR,
    CARRIER,
    FORM,
    META,
    RAW_CARRIER, /* what stands in it is text */
    RAW_TEXT,
    DRAWING,
    LEFT, /* to the tree */
} Meaning;

static const struct {
    const char *name;
    Meaning meaning;
} special[] = {
    {"a", ANCHOR}, {"link", CARRIER}, {"img", CARRIER}, {"area", CARRIER}, {"audio", CARRIER}, {"embed", CARRIER},
    {"input", CARRIER}, {"object", CARRIER}, {"source", CARRIER}, {"track", CARRIER}, {"video", CARRIER},
    {"form", FORM}, {"meta", META}, {"script", RAW_CARRIER}, {"iframe", RAW_CARRIER},
    {"style", RAW_TEXT}, {"title", RAW_TEXT}, {"textarea", RAW_TEXT}, {"noembed", RAW_TEXT}, {"noframes", RAW_TEXT},
    {"xmp", RAW_TEXT}, {"svg", DRAWING},
    {"base", LEFT}, {"template", LEFT}, {"math", LEFT}, {"select", LEFT}, {"frameset", LEFT}, {"frame", LEFT},
    {"image", LEFT}, {"plaintext", LEFT},
};

#define SPECIAL (sizeof special / sizeof *special)

/* For start tags and for end tags, by their first letter: the lengths of names that mean something, a bit for each. Nearly all
 * tags are known to be plain by this alone. */
static uint16_t special_lengths[2][32];

static void fill_special_lengths(void)
{
    for (size_t i = 0; i < SPECIAL; i++)
        special_lengths[0][special[i].name[0] & 31] |= (uint16_t)(1 << strlen(special[i].name));
    special_lengths[1]['f' & 31] = 1 << strlen("form");
}

static const char *find_special(Bytes name, size_t length, Meaning *meaning)
{
    for (size_t i = 0; i < SPECIAL; i++) {
        const char *known = special[i].name;
        if ((*name | 0x20) == known[0] && strlen(known) == length && same_letters(name, name + length, known)) {
            *meaning = special[i].meaning;
            return known;
        }
    }
    *meaning = PLAIN;
    return NULL;
}

/* Reads one start tag, whose name may mean something, with raw text that belongs to it. `place` is the end of its name, and
 * then the place behind it. */
static Outcome read_special_tag(TagReader *reader, int *in_form, Bytes name, Bytes *place, Bytes end)
{
    Bytes at = *place, reference[2], close;
    Meaning meaning = PLAIN;
    const char *known = IS(*at, NAME_END) ? find_special(name, (size_t)(at - name), &meaning) : NULL;
    if (meaning == ANCHOR && (close = plain_anchor_end(at, end, reference)) != NULL) {
        *place = close + 1;
        return reference[0] == NULL ? READ : take_tag(reader, reference[0], reference[1]);
    }
    if (meaning == LEFT || (close = attributes_end(at, end)) == NULL)
        return ODD;
    *place = close + 1;
    if (meaning == RAW_CARRIER || meaning == RAW_TEXT)
        *place = raw_text_end(close + 1, end, known, meaning == RAW_CARRIER);
    else if (meaning == DRAWING)
        *place = drawing_end(close, end);
    if (*place == NULL || (meaning == FORM && *in_form))
        return ODD;
    *in_form = *in_form || meaning == FORM;
    int is_taken = meaning != PLAIN && meaning != RAW_TEXT && meaning != DRAWING && (meaning != META || may_matter(at, close));
    return is_taken ? take_tag(reader, name, close) : READ;
}

/* Behind what begins with `<` and no letter: a comment, a doctype, an end tag without a name. NULL where it is odd. */
static Bytes unnamed_end(Bytes at, Bytes end)
{
    if (*at == '!' && end - at >= 3 && at[1] == '-' && at[2] == '-')
        return comment_end(at + 3, end);
    return *at == '!' || *at == '?' || *at == '/' ? behind_next(at, end, '>') : at;
}

Outcome scan_document(TagReader *reader, Bytes at, Bytes end)
{
    int in_form = 0;
    if (memchr(at, '\0', (size_t)(end - at)) != NULL)
        return ODD;
    while ((at = find(at, end, '<')) != end) {
        if (++at == end)
            break; /* Text. */
        /* Start and end tags are read alike as far as can be: which of them comes next, no processor can foresee. */
        int is_end_tag = *at == '/';
        Bytes name = at + is_end_tag, stop;
        if (name == end || !IS(*name, LETTER)) {
            at = unnamed_end(at, end);
            if (at == NULL)
                return ODD;
            continue;
        }
        at = find_name_end(name, end, &stop);
        if (stop == end)
            return ODD;
        size_t length = (size_t)(at - name);
        if (length < 16 && special_lengths[is_end_tag][*name & 31] >> length & 1) {
            if (!is_end_tag) {
                Outcome outcome = read_special_tag(reader, &in_form, name, &at, end);
                if (outcome != READ)
                    return outcome;
                continue;
            }
            if (same_letters(name, at, "form") && IS(*at, NAME_END))
                in_form = 0;
        }
        if (*stop != '>' && (is_end_tag || (stop = attributes_end(stop, end)) == NULL))
            return ODD;
        at = stop + 1;
    }
    return READ;
}

void prepare_scanner(void)
{
    fill_kinds();
    fill_special_lengths();
}
