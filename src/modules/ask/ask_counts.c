#include "ask/ask_counts.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_falling(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* max(0, count - t), the t at which they add up: the k largest ones stay, for the largest k of which the smallest one does. */
sotto_status ask_counts_project(double *counts, size_t n, double total)
{
    sotto_status status = SOTTO_OK;
    double *sorted = NULL, sum = 0, t = 0;
    NEW(sorted, n);
    memcpy(sorted, counts, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_falling);
    for (size_t k = 0; k < n; k++) {
        sum += sorted[k];
        const double next = (sum - total) / (double)(k + 1);
        if (k > 0 && !(sorted[k] > next))
            break;
        t = next;
    }
    for (size_t i = 0; i < n; i++)
        counts[i] = fmax(0, counts[i] - t);
done:
    base_free(sorted);
    return status;
}

struct remainder {
    double part;
    size_t at;
};

static int by_remainder(const void *a, const void *b)
{
    const struct remainder *x = a, *y = b;
    return x->part != y->part ? (x->part < y->part) - (x->part > y->part) : (x->at > y->at) - (x->at < y->at);
}

sotto_status ask_counts_round(double *counts, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct remainder *left = NULL;
    double sum = 0, whole = 0;
    NEW(left, n);
    for (size_t i = 0; i < n; i++) {
        sum += counts[i];
        left[i] = (struct remainder){counts[i] - floor(counts[i]), i};
        counts[i] = floor(counts[i]);
        whole += counts[i];
    }
    qsort(left, n, sizeof *left, by_remainder);
    const size_t up = (size_t)fmax(0, nearbyint(sum) - whole);
    for (size_t i = 0; i < up && i < n; i++)
        counts[left[i].at]++;
done:
    base_free(left);
    return status;
}
