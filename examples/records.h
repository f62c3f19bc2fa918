/* records.h - made-up records of two classes, for the examples: 16 numbers each, the classes one unit apart. */
#ifndef EXAMPLES_RECORDS_H
#define EXAMPLES_RECORDS_H

#include <stdint.h>
#include <stdlib.h>

enum { RECORDS = 2000, COLUMNS = 16, CLASSES = 2 };

static void make_records(float *x, int64_t *y, unsigned seed)
{
    srand(seed);
    for (int i = 0; i < RECORDS; i++) {
        y[i] = i % CLASSES;
        for (int j = 0; j < COLUMNS; j++)
            x[i * COLUMNS + j] = (float)rand() / (float)RAND_MAX - 0.5F + 0.25F * (float)y[i];
    }
}

#endif
