/* norm_rows.h - a batch norm beside a layer that goes row by row (struct layer: by_rows), which then does parts of the norm's
 * work on rows while they are in cache, and saves passes over the tensor: what layer_run.shared says. Rows of an image are
 * numbered from 0. The same bits as without. */
#ifndef NN_LAYER_NORM_ROWS_H
#define NN_LAYER_NORM_ROWS_H

#include "nn/layer/layer.h"

/** shared.result: to (W, C) = a row of the norm's result, which is not in memory. */
void norm_rows_result(const struct layer_run *norm, void *to, size_t image, size_t row);
/** shared.moments: rows up to this one of the norm's source are there; once for each row, ascending within an image. */
void norm_rows_moments(struct layer_run *norm, size_t image, size_t row);
/** shared.slopes: likewise of the gradient of the norm's result. */
void norm_rows_slopes(struct layer_run *norm, size_t image, size_t row);
/** Does the norm leave the gradient of its source to norm_rows_gradient()? With shared.gradient, where the gradient of its
 * result is still there when the layer below it runs. */
bool norm_leaves_gradient(const struct layer_run *norm);
/** to (W, C) = a row of the gradient of the norm's source. */
void norm_rows_gradient(const struct layer_run *norm, void *to, size_t image, size_t row);

#endif
