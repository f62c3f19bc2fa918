/* defend_inputs.h - the arrays of `sotto defend`: rows to defend, what defender and attacker know, the
 * outputs. */
#ifndef CLI_INPUTS_DEFEND_INPUTS_H
#define CLI_INPUTS_DEFEND_INPUTS_H

#include "options/options.h"
#include "sotto/lab/defend.h"

#include <stdbool.h>

enum { DEFEND_PARTS = 16, DEFEND_FILES = 8 * DEFEND_PARTS, DEFEND_PATH = 1024 };

/* Files of one kind, stacked in their order. */
struct defend_rows {
    struct sotto_array x, protected_label,
        label; /* f4 (n, d), i8 (n), i8 (n); secret and label may be empty */
    size_t n, d, parts;
    size_t part[DEFEND_PARTS];      /* rows of each file */
    const char *path[DEFEND_PARTS]; /* of x; points into paths below */
};
struct defend_inputs {
    struct defend_rows rows, known, attacker;
    struct sotto_defence_file files[DEFEND_FILES]; /* all that were read */
    char paths[DEFEND_FILES][DEFEND_PATH];
    size_t file_count;
};
sotto_status defend_inputs_load(struct defend_inputs *in, const struct options *o);
void defend_inputs_clear(struct defend_inputs *in);
struct sotto_defence_known defend_known(const struct defend_rows *r);

/* What the attacker of --attacker learns. */
sotto_status defend_measure(struct sotto_defence_result *out, const struct defend_inputs *in,
                            const struct sotto_defence *d, const struct sotto_array *after,
                            const struct options *o, const struct sotto_context *ctx);
/* What a task's head answers to embeddings before and after; both stay empty where no head is given and none
 * can be trained. */
sotto_status defend_utility(struct sotto_array *before, struct sotto_array *after,
                            const struct defend_inputs *in, const struct sotto_defence *d,
                            const struct sotto_array *defended, const struct options *o,
                            const struct sotto_context *ctx);
/* --output: the rows, file by file if there were several inputs, and the record beside them, last. */
sotto_status defend_outputs_save(const struct defend_inputs *in, const struct sotto_array *after,
                                 const struct sotto_defence_record *record, const struct options *o);

#endif
