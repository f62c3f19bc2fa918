/* ask_texts.h - the queries of a call as they are given: one by one, and line by line in a file. */
#ifndef ASK_ASK_TEXTS_H
#define ASK_ASK_TEXTS_H

#include "sotto/lab/ask.h"

struct ask_texts {
    const char **texts; /* (count), borrowed from the call and from lines */
    size_t count;
    unsigned char *lines;
};
/** EUSAGE: there are none; errors of file_read(); EFORMAT. Free with ask_texts_clear(), on failure too. */
sotto_status ask_texts_read(struct ask_texts *t, const struct sotto_ask *ask);
void ask_texts_clear(struct ask_texts *t);

#endif
