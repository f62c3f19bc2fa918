/* merged_moments.h - mean and squares of numbers that come in parts, merged in double (Chan, Golub & LeVeque 1979): neither large means
 * nor the size of the parts matter. */
#ifndef NN_LAYER_MERGED_MOMENTS_H
#define NN_LAYER_MERGED_MOMENTS_H

#include <stddef.h>

/** How many numbers, their mean, the sum of squares around it. */
struct moments {
    double count, mean, squares;
};
/** At least one of both counts is not 0. */
static inline void moments_add(struct moments *to, double count, double mean, double squares)
{
    const double delta = mean - to->mean, n = to->count;
    to->squares += squares + delta * delta * n * count / (n + count);
    to->mean += delta * count / (n + count);
    to->count += count;
}

/** The same as doubles, for rows that cross leaves. */
enum { MOMENTS_NUMBERS = 3 };
static inline struct moments moments_read(const double *from)
{
    return (struct moments){from[0], from[1], from[2]};
}
static inline void moments_write(double *to, struct moments m)
{
    to[0] = m.count, to[1] = m.mean, to[2] = m.squares;
}
/** A tree_merge_rows (par/tree.h) of rows of such numbers. */
static inline void moments_merge(double *to, const double *from, size_t width)
{
    for (size_t i = 0; i < width; i += MOMENTS_NUMBERS) {
        struct moments m = moments_read(to + i);
        moments_add(&m, from[i], from[i + 1], from[i + 2]);
        moments_write(to + i, m);
    }
}

#endif
