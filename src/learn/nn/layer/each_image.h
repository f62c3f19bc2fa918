/* each_image.h - the work of a layer on each image of its batch by itself, by all threads. */
#ifndef NN_LAYER_EACH_IMAGE_H
#define NN_LAYER_EACH_IMAGE_H

#include "nn/layer/layer.h"
#include "par/par.h"

/** body(run, image, thread) for each image; the body cannot fail. Images are left out once run->stop says so. */
void layer_each_image(par_body body, struct layer_run *run);

#endif
