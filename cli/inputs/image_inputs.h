/* image_inputs.h - what verbs on images share: which rows of a set they work on. */
#ifndef CLI_INPUTS_IMAGE_INPUTS_H
#define CLI_INPUTS_IMAGE_INPUTS_H

#include "options/options.h"

/** Rows chosen by --indices rows.npy or --split train|test|all, as int64 (N). Clear with sotto_array_clear().
 *  EUSAGE: both were given; EINVAL: a file that is not a list of rows of this set. */
sotto_status image_rows(struct sotto_array *out, const struct sotto_dataset *data, const struct options *o);
/** The same from a file. */
sotto_status image_rows_file(struct sotto_array *out, const struct sotto_dataset *data, const char *path);

/** --image C,H,W as three sizes; all 0 if it was not given. EUSAGE. */
sotto_status image_shape(size_t shape[3], const struct options *o);

/** --size HxW; both stay as they are if it was not given. EUSAGE. */
sotto_status image_size(size_t *height, size_t *width, const struct options *o);

/** Says beside a trained file which records trained it. */
sotto_status image_provenance_save(const char *output, const struct sotto_dataset *data,
                                   const struct sotto_array *chosen);

/** Two ways of judging frozen embeddings: rows of the set's training part teach, rows of its test part are
 * asked. */
struct encoder_quality {
    size_t train, test;
    double knn;                         /* accuracy of k-NN (k = 20, cosine) */
    struct sotto_answer_quality linear; /* a linear head by the default recipe */
};
/** EINVAL: no labels, or one of the parts is empty. x (rows, width). */
sotto_status encoder_quality_measure(struct encoder_quality *out, const struct sotto_dataset *data,
                                     const struct sotto_array *rows, const float *x, size_t width,
                                     uint64_t seed, const struct sotto_context *ctx);

/* Trains on --data into --output, with its state in `checkpoint`: --checkpoint, or OUTPUT.checkpoint. */
typedef sotto_status image_trainer(const struct options *o, const struct sotto_dataset *data,
                                   const char *checkpoint, const struct sotto_context *ctx, int json);
/* files: NULL, or options for --data that is files. */
sotto_status image_training(const struct options *o, const struct sotto_import_options *files,
                            const struct sotto_context *ctx, int json, image_trainer *train);

#endif
