/* image_paths.h - what the paths of pictures say: split/class/NAME.jpg, class/NAME.jpg, or NAME.jpg alone (no
 * labels). A folder that everything lies in ("CIFAR-10-images/") is looked through. */
#ifndef DATA_IMAGE_PATHS_H
#define DATA_IMAGE_PATHS_H

#include "data/bundle.h"

struct picture {
    size_t entry; /* of the bundle */
    int split;    /* 0 training, 1 validation, 2 test */
    int64_t label;
    const char *class_name; /* borrowed from the entry's name */
    size_t class_length;
};
struct picture_list {
    size_t n, n_train; /* in the set's final order */
    struct picture *items;
    bool labelled;
    size_t classes;
    char **class_names;
};
bool pictures_any(const struct bundle *b);
/** EFORMAT: pictures at different depths, or deeper than split/class. Free with pictures_clear(). */
sotto_status pictures_list(struct picture_list *out, const struct bundle *b);
void pictures_clear(struct picture_list *l);

#endif
