/* record_input.h - records of a data set as the input of a network: values, padding, and whole-pixel views.
 *
 * Images become (H, W, C) f32 in [0, 1]; u8 values are divided by 255, as `sotto data split` does, so a
 * network says the same about an image and about its row of features. */
#ifndef TRAIN_NETWORK_RECORD_INPUT_H
#define TRAIN_NETWORK_RECORD_INPUT_H

#include "nn/nn.h"
#include "sotto/lab/data.h"

/** One view of an image: mirrored, then shifted by whole pixels (what comes in is reflected: c b a | a b c d | d
 * c b), as data/augment/augment.h defines them. {0} is the image itself. */
struct record_view {
    int shift_y, shift_x; /* down, right */
    int flip;
};

struct record_input {
    const uint8_t *images; /* exactly one of the two */
    const float *features;
    struct nn_shape record; /* of one; tables: (D, 1, 1) */
    /* of the network: the same, or zero-padded around the centre, grey in every channel */
    struct nn_shape input;
    int threads;
    float level[256]; /* of a u8 value */
};
/** Shape of the records of `data`; a table's rows are images of the shape `image` if it is not 0. EINVAL. */
sotto_status record_shape(struct nn_shape *out, const struct sotto_dataset *data, struct nn_shape image);
/** Input of a network of this model for such records. */
sotto_status record_padding(struct nn_shape *out, const char *model, struct nn_shape record);
void record_input_make(struct record_input *out, const struct sotto_dataset *data, struct nn_shape record,
                       struct nn_shape input, int threads);
/** dst (n, H', W', C). views (n), or NULL: the records as they are. */
void record_input_fill(float *dst, const struct record_input *r, const int64_t *rows, size_t n,
                       const struct record_view *views);
/** Adds Gaussian noise of this deviation to every number of the records in dst, and none to padding; grey images, which are
 * the same in every channel, stay so. Of the step and the position in its batch alone, which is `first` for the first. */
void record_input_add_noise(float *dst, const struct record_input *r, size_t first, size_t n,
                            double deviation, uint64_t seed, uint64_t step);
/** The view of the record at position `index` of a step's batch: mirrored or not, shifted by up to `crop`. */
struct record_view record_view_draw(int flip, size_t crop, uint64_t seed, uint64_t step, uint64_t index);

#endif
