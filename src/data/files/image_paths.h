/* image_paths.h - what the paths of pictures say: split/class/NAME.jpg, class/NAME.jpg, or NAME.jpg alone (no
 * labels). A folder that everything lies in ("CIFAR-10-images/") is looked through. */
#ifndef DATA_FILES_IMAGE_PATHS_H
#define DATA_FILES_IMAGE_PATHS_H

#include "data/files/bundle.h"

struct picture {
    size_t entry; /* of the bundle */
    int split;    /* 0 training, 1 validation, 2 test */
    int64_t label, attribute;
    const char *class_name; /* borrowed from the entry's name, or from a fact (image_facts.h) */
    size_t class_length;
};
struct picture_list {
    size_t n, n_train; /* in the set's final order */
    struct picture *items;
    bool labelled;
    size_t classes;
    char **class_names;
    char attribute_name[64];
    size_t values; /* 0: no attribute */
    char **value_names;
};
bool is_picture(const char *name);
bool pictures_any(const struct bundle *b);
/** EFORMAT: pictures at different depths, or deeper than split/class. Free with pictures_clear(). */
sotto_status pictures_list(struct picture_list *out, const struct bundle *b);
/** Numbers the distinct class_names by number where they are numbers, else by bytes: label of each picture, and
 * *names of *count texts. Sorts the pictures by them. ENOMEM; what was made is in *names. */
sotto_status pictures_number(struct picture_list *l, char ***names, size_t *count);
/** Final order (split, class, entry) and n_train, once all are numbered. */
void pictures_arrange(struct picture_list *l);
void pictures_clear(struct picture_list *l);

#endif
