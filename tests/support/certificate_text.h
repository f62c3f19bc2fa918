/* certificate_text.h - what stands in the document of a certificate. */
#ifndef TESTS_SUPPORT_CERTIFICATE_TEXT_H
#define TESTS_SUPPORT_CERTIFICATE_TEXT_H

#include "sotto/certificate.h"

#include <stdbool.h>
#include <string.h>

/* sotto_text_free(); NULL: out of memory */
static inline char *certificate_text(const struct sotto_certificate *c)
{
    char *text = NULL;
    return sotto_certificate_encode(&text, c) == SOTTO_OK ? text : NULL;
}

static inline bool certificate_holds(const struct sotto_certificate *c, const char *part)
{
    char *text = certificate_text(c);
    bool holds = text && strstr(text, part);
    sotto_text_free(text);
    return holds;
}

/* Written, read and written again, it is the same. */
static inline bool certificate_comes_back(const struct sotto_certificate *c)
{
    struct sotto_certificate *read = NULL;
    char *one = certificate_text(c), *two = NULL;
    if (one && sotto_certificate_decode(&read, one) == SOTTO_OK)
        two = certificate_text(read);
    bool same = two && strcmp(one, two) == 0;
    sotto_certificate_free(read);
    sotto_text_free(one);
    sotto_text_free(two);
    return same;
}

#endif
