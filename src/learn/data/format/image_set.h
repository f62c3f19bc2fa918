/* image_set.h - images of a bundle, listed and labelled, become a set of images of one size. */
#ifndef DATA_FORMAT_IMAGE_SET_H
#define DATA_FORMAT_IMAGE_SET_H

#include "data/files/image_paths.h"
#include "data/format/format.h"

/** Images, labels and attribute as the list says, in its order; options: the size, and whether images that cannot be
 * read leave the list. EINVAL: many sizes and none was asked for; EFORMAT: an image is damaged, and the message names
 * it; or more than half of them, or all of a class, were left out. */
sotto_status image_set_read(struct dataset *d, const struct bundle *b, struct image_list *list,
                            const struct sotto_import_options *options, const struct sotto_context *ctx);

#endif
