/* An allocator for json_set_alloc_funcs() that gives out `jansson_left` blocks and then none. Negative: no
 * limit. */
#ifndef TESTS_FAILING_JANSSON_H
#define TESTS_FAILING_JANSSON_H

#include <stdlib.h>

static long jansson_left = -1;

static inline void *jansson_malloc(size_t size)
{
    if (jansson_left == 0)
        return NULL;
    if (jansson_left > 0)
        jansson_left--;
    return malloc(size);
}

#endif
