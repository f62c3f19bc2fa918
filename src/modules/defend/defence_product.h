/* defence_product.h - a row times a matrix, in double: all that the defender's classifier spends its time
 * on. */
#ifndef DEFEND_DEFENCE_PRODUCT_H
#define DEFEND_DEFENCE_PRODUCT_H

#include "base/cpu.h"

#include <stddef.h>

/* out (columns) += x (rows) times w (rows, columns), summed over the rows in order: the same bits at every
 * level. Rows with x = 0 (units that are off) are not read. */
typedef void defence_product(double *out, const double *x, const double *w, size_t rows, size_t columns);
defence_product *defence_product_best(void);

#endif
