/* head_block.h - trains a block of linear heads together on one thread, in memory that was planned once. */
#ifndef HEAD_BATCH_HEAD_BLOCK_H
#define HEAD_BATCH_HEAD_BLOCK_H

#include "head/kernel/head_lanes.h"
#include "head/train/head_plain.h"

struct head_block {
    struct arena memory;
    struct head_lanes lanes;
    const struct head_lane_kernels *kernels;
    const struct sotto_head_recipe *recipe; /* borrowed, as is data */
    const struct head_data *data;
    float *x;         /* (batch, d): gathered records, shared by the heads */
    int64_t *y;       /* (batch) */
    int64_t *order;   /* (n) */
    size_t *position; /* (n): inverse of order */
    float *share;     /* (heads): 1 / records of the head's batch */
    size_t *records;  /* (heads) */
    float *balance;   /* (classes): factors of the losses of a class */
};

/** Number of groups of HEAD_PAD heads with weights and moments that stay in a second-level cache. */
size_t head_block_groups(const struct head_data *data);
/** Memory for groups * HEAD_PAD heads; recipe must be of a linear head and outlive the block, as must data. */
sotto_status head_block_plan(struct head_block *b, const struct head_data *data,
                             const struct sotto_head_recipe *recipe, size_t groups);
/** Trains heads 0 .. count-1, each with its own slots and its own column of the subset (head h: member + h);
 *  bit for bit the same in any company, and what head_plain_run() gives one by one up to rounding: on
 * 10,000 records of 128 features and 10 classes, no weight differs by more than 1e-7 after 20 epochs of 20
 * steps, by 5e-5 after 100 epochs of 95 steps of Adam (1e-7 of SGD). */
sotto_status head_block_run(struct head_block *b, const struct head_slots *slots,
                            const struct head_subset *subset, size_t count, const struct sotto_context *ctx);
/** Parameters of one head in file order. */
void head_block_export(const struct head_block *b, size_t head, float *parameters);
void head_block_clear(struct head_block *b);

#endif
