/* image_paths.h - what the paths of images say: split/class/NAME.jpg, class/NAME.jpg, or NAME.jpg alone (no
 * labels). A folder that everything lies in ("CIFAR-10-images/") is looked through. */
#ifndef DATA_FILES_IMAGE_PATHS_H
#define DATA_FILES_IMAGE_PATHS_H

#include "data/files/bundle.h"

struct image {
    size_t entry; /* of the bundle */
    int split;    /* 0 training, 1 validation, 2 test */
    int64_t label, attribute;
    const char *class_name; /* borrowed from the entry's name, or from a fact (image_facts.h) */
    size_t class_length;
};
struct image_list {
    size_t n, n_train; /* in the set's final order */
    struct image *items;
    bool labelled;
    size_t classes;
    char **class_names;
    char attribute_name[64];
    size_t values; /* 0: no attribute */
    char **value_names;
};
/** By the ending; also of kinds that are not read, which image_probe() names. */
bool is_image(const char *name);
bool images_any(const struct bundle *b);
/** EFORMAT: images at different depths, or deeper than split/class. Free with images_clear(). */
sotto_status images_list(struct image_list *out, const struct bundle *b);
/** Numbers the distinct class_names by number where they are numbers, else by bytes: label of each image, and
 * *names of *count texts. Sorts the images by them. ENOMEM; what was made is in *names. */
sotto_status images_number(struct image_list *l, char ***names, size_t *count);
/** Final order (split, class, entry) and n_train, once all are numbered, and again once some are left out. */
void images_arrange(struct image_list *l);
void images_clear(struct image_list *l);

#endif
