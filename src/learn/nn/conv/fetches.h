/* fetches.h - parts of tensors that are read or written after the running products, which fetch them bit by bit: transforms
 * do little else than wait for them. */
#ifndef NN_CONV_FETCHES_H
#define NN_CONV_FETCHES_H

#include <stddef.h>

enum { FETCHES_LINE = 64 };
struct fetches {
    struct {
        const char *at;
        size_t lines;
    } part[3];
    size_t count;
};

/** Bytes [from, end) of a tensor, rounded down to lines. NULL: none. */
static inline void fetches_add(struct fetches *f, const void *tensor, size_t from, size_t end)
{
    from /= FETCHES_LINE, end /= FETCHES_LINE;
    if (tensor && from < end) {
        f->part[f->count].at = (const char *)tensor + from * FETCHES_LINE;
        f->part[f->count++].lines = end - from;
    }
}

/** The share of product number i of n. */
static inline void fetches_run(const struct fetches *f, size_t i, size_t n)
{
    for (size_t p = 0; p < f->count; p++)
        for (size_t line = f->part[p].lines * i / n; line < f->part[p].lines * (i + 1) / n; line++)
            __builtin_prefetch(f->part[p].at + line * FETCHES_LINE, 0, 2);
}

#endif
