/* audit_references.h - one pass over the matrix of reference signals, which need not lie in memory.
 *
 * The pass makes the summaries of all records for several targets at once: the model under attack, or up to 16
 * reference models that play it. */
#ifndef AUDIT_AUDIT_REFERENCES_H
#define AUDIT_AUDIT_REFERENCES_H

#include "audit/score/reference.h"
#include "audit/score/reference_kernel.h"
#include "sotto/private/io.h"

/* Rows first .. first + count of the matrix, and of the training mask, from any thread. */
struct reference_source {
    const void *self;
    size_t n, models;
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

/* The matrix as the caller has it, in memory or in files, members first. */
struct matrix_part {
    size_t n;
    const double *signals;  /* (n, models), or in a file: */
    const uint8_t *trained; /* (n, models); NULL: nowhere */
    const struct sotto_rows *signal_rows, *trained_rows;
};
struct reference_matrix {
    struct matrix_part part[2];
    size_t models;
    bool losses; /* that are to become signals */
    double step; /* of rounded probabilities, as attack_input.step */
};
/* The read() of a source whose self is a struct reference_matrix. */
sotto_status reference_matrix_read(const void *self, double *signals, uint8_t *trained, size_t first,
                                   size_t count);
/* Of what lies in files: shapes and values. EINVAL names the file. */
sotto_status reference_matrix_check(const struct reference_matrix *m, const struct sotto_context *ctx);
/* Was any model trained on any record? And not on another? */
sotto_status reference_matrix_masks(bool *seen, bool *unseen, const struct reference_matrix *m);

#endif
