/* any_order.h - sums of doubles that are the same in whatever order, on whatever threads and ranks: each number is rounded to a
 * multiple of 2^-48 first, and multiples are added up as whole numbers. */
#ifndef PAR_ANY_ORDER_H
#define PAR_ANY_ORDER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/** whole + part / 2^48, with part in 0 .. 2^48 - 1. {0}: nothing. */
struct any_order {
    int64_t whole, part;
};

static inline void any_order_join(struct any_order *to, struct any_order more)
{
    const int64_t part = to->part + more.part;
    to->whole += more.whole + (part >> 48);
    to->part = part & (((int64_t)1 << 48) - 1);
}
/** Numbers beyond 2^60 count as that, so a sum may have as many as their weights allow: at most 4 of that size. */
static inline void any_order_add(struct any_order *to, double value)
{
    const double most = 0x1p60, kept = value < most ? value > -most ? value : -most : most,
                 whole = floor(kept), part = rint((kept - whole) * 0x1p48);
    any_order_join(to, (struct any_order){(int64_t)whole, (int64_t)part});
}
static inline double any_order_value(struct any_order s)
{
    return (double)s.whole + (double)s.part * 0x1p-48;
}

#endif
