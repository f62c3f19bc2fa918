/* bit_table.h - the tables of Shokri et al. 2017 as they are published: lines of zeros and ones. */
#ifndef DATA_FORMAT_BIT_TABLE_H
#define DATA_FORMAT_BIT_TABLE_H

#include "data/dataset.h"

struct text_bytes {
    const unsigned char *data;
    size_t size;
    const char *where; /* for messages */
};
/** Lines of `0,1,...`; labels NULL: every line starts with its class (Purchase-100), else one class a line
 * there (Texas-100). Classes count from 1. EFORMAT "where:LINE: what"; ENOMEM. */
sotto_status bit_table_from_memory(struct dataset *d, const struct text_bytes *rows,
                                   const struct text_bytes *labels);

#endif
