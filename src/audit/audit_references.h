/* audit_references.h - one pass over the matrix of reference signals, which need not lie in memory.
 *
 * The pass makes the summaries of all records for several targets at once: the model under attack, or up to 16
 * reference models that play it. */
#ifndef AUDIT_AUDIT_REFERENCES_H
#define AUDIT_AUDIT_REFERENCES_H

#include "audit/score/reference.h"
#include "audit/score/reference_kernel.h"

/* Rows first .. first + count of the matrix, and of the training mask, from any thread. */
struct reference_source {
    const void *self;
    size_t n, models;
    bool masked; /* false: no model was trained on any record */
    sotto_status (*read)(const void *self, double *signals, uint8_t *trained, size_t first, size_t count);
};

struct reference_target {
    size_t model;                      /* as attack_input.target_model; 0: the model under attack */
    double *signals;                   /* (n): of the target; of a reference model they are filled in */
    uint8_t *trained;                  /* (n): of a reference model, filled in; NULL: not wanted */
    struct reference_summary *summary; /* (n): filled in */
};
/* count <= REFERENCE_LANES targets, models rising. ENOMEM, ESTOPPED, and what read() says. */
sotto_status audit_references_pass(struct reference_target *targets, size_t count,
                                   const struct reference_source *source, const struct sotto_context *ctx);

#endif
