/* image_facts.h - what a table says about images: the task's label each, and perhaps an attribute. */
#ifndef DATA_FORMAT_IMAGE_FACTS_H
#define DATA_FORMAT_IMAGE_FACTS_H

#include "data/format/image_set.h"

enum { PICTURE_TEXT = 64 };
struct image_fact {
    char *path; /* as the list writes it; its end says which image is meant */
    int split;  /* 0 training, 1 validation, 2 test */
    char label[PICTURE_TEXT], attribute[PICTURE_TEXT];
};
struct image_facts {
    size_t n, capacity;
    struct image_fact *items;
    char attribute_name[PICTURE_TEXT]; /* "": the images have no attribute */
};
/** Copies; attribute NULL: none. EFORMAT: an empty text, or one of PICTURE_TEXT bytes or more; ENOMEM. */
sotto_status image_facts_add(struct image_facts *f, const char *path, size_t path_length, int split,
                             const char *label, const char *attribute);
void image_facts_clear(struct image_facts *f);
/** Finds the images and reads them. Images without a fact, and facts without an image, are left out with
 * a warning. EFORMAT: a fact that fits several images, an image with two facts, none left, one class or
 * value only. */
sotto_status image_facts_read(struct dataset *d, const struct image_facts *f, const struct bundle *b,
                              const struct sotto_import_options *options, const struct sotto_context *ctx);

/** A table with a header: path, label, perhaps attribute, perhaps split; or other columns, as `label` and `attribute`
 * say (NULL: these). */
sotto_status image_table_from_memory(struct image_facts *out, const char *text, size_t size, const char *name,
                                     const char *label, const char *attribute);

#endif
