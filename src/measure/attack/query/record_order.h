/* record_order.h - records that are asked about in a random order, and put back into their own. */
#ifndef ATTACK_QUERY_RECORD_ORDER_H
#define ATTACK_QUERY_RECORD_ORDER_H

#include "base/memory.h"

#include <stdint.h>

/* *order (n): a random permutation; free with base_free(). ENOMEM. */
sotto_status record_order_draw(int64_t **order, size_t n, uint64_t seed);
/* rows (n, bytes): row i becomes what stood in row order[i]. ENOMEM, and nothing has moved. */
sotto_status record_order_apply(void *rows, const int64_t *order, size_t n, size_t bytes);
/* The other way round. */
sotto_status record_order_undo(void *rows, const int64_t *order, size_t n, size_t bytes);

#endif
