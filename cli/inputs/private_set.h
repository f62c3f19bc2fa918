/* private_set.h - whose records a private verb charges for: the identity, and the records of its imported set. */
#ifndef CLI_INPUTS_PRIVATE_SET_H
#define CLI_INPUTS_PRIVATE_SET_H

#include "options/options.h"

/* Options of every verb that charges a ledger. */
extern const struct option_row private_set_rows[];

/* The rows of a file that counts as public shaped the columns of p, and so did all that these rows were shaped by; NULL: no file. */
sotto_status shape_by_rows(struct sotto_provenance *p, const char *what, const char *path);
/* The same of an encoder's file, which may be of another program; NULL: no file. */
sotto_status shape_by_encoder(struct sotto_provenance *p, const char *path);

struct private_set {
    struct sotto_spend spend; /* of the command line; its records are: */
    struct sotto_source_records source;
    unsigned char (*digests)[SOTTO_DIGEST]; /* (source.n), owned, or NULL */
    const char *key;                        /* file of the key that signs, borrowed; NULL: not signed */
    struct sotto_risk risk;                 /* that was asked for instead of an epsilon, borrowed */
};
/* EUSAGE: not exactly one option says how much noise: --scale or --noise-multiplier, an epsilon, or a risk. */
sotto_status private_set_noise_once(const struct options *o, const char *verb, const char *noise);
/* `provenance` (borrowed): what the inputs say of themselves; verb and what ("X.npy") are for errors. EUSAGE: no
 * identity, one that --dataset-id contradicts, half a budget, or a key that cannot sign. Borrowed by s->spend, so *s stays where it is. Clear also after a failure. */
sotto_status private_set_identify(struct private_set *s, const struct options *o,
                                  const struct sotto_provenance *provenance, const char *verb,
                                  const char *what);
/* Looks the records up in the imported set; unknown where the provenance names no set. */
sotto_status private_set_look_up(struct private_set *s, const struct sotto_context *ctx);
/* Signs the certificate beside `output` if that was asked for, and prints what was released: one line, and one about the
 * risk that was asked for; or with `json` the certificate. */
sotto_status private_set_print(const struct private_set *s, const struct sotto_certificate *c,
                               const char *output, int json);
void private_set_clear(struct private_set *s);

#endif
