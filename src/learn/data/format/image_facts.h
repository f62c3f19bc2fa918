/* image_facts.h - what a table, a list or file names say about images: two labels each, the task's and an
 * attribute. */
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
    char attribute_name[PICTURE_TEXT];
    /* Names of labels and attributes that are written as numbers 0 ..; NULL: as they are written.
     * NULL-terminated. */
    const char *const *label_names, *const *value_names;
};
/** Copies. EFORMAT: an empty text, or one of PICTURE_TEXT bytes or more; ENOMEM. */
sotto_status image_facts_add(struct image_facts *f, const char *path, size_t path_length, int split,
                             const char *label, const char *attribute);
void image_facts_clear(struct image_facts *f);
/** Finds the images and reads them. Images without a fact, and facts without an image, are left out with
 * a warning. EFORMAT: a fact that fits several images, an image with two facts, none left, one class or
 * value only. */
sotto_status image_facts_read(struct dataset *d, const struct image_facts *f, const struct bundle *b,
                              const struct sotto_import_options *options, const struct sotto_context *ctx);

/* The parsers, on bytes; `name`: for messages. */

/** CelebA's list_attr_celeba.txt: a line with the count, one with the column names, then name and +-1 for
 * each column. label, attribute: columns ("Male"), or several with '+' ("Attractive+Smiling": the first
 * counts most). `partition` (may be NULL): list_eval_partition.txt, lines "NAME
 * 0|1|2". */
sotto_status celeba_from_memory(struct image_facts *out, const char *text, size_t size, const char *partition,
                                size_t partition_size, const char *name, const char *label,
                                const char *attribute);
/** Places: a JSON list of [path, category, indoor or outdoor]. Texts or whole numbers; the label is the
 * third. */
sotto_status places_from_memory(struct image_facts *out, const char *text, size_t size, const char *name);
/** UTKFace: age_gender_race_timestamp.jpg[.chip.jpg]. False: not such a name, or a field is missing. */
struct utkface_name {
    unsigned age, gender, race;
};
bool utkface_parse(struct utkface_name *out, const char *base);
/** A table with a header: path, label, attribute and perhaps split, or as `label` and `attribute` say (NULL:
 * so). */
sotto_status image_table_from_memory(struct image_facts *out, const char *text, size_t size, const char *name,
                                     const char *label, const char *attribute);
/** ChestX-ray8's Data_Entry_2017.csv: the first of the findings, joined by '|'; label and attribute name columns (NULL:
 * "Finding Labels" and "Patient Gender"). `tests` (may be NULL; ends in a 0 byte, is cut in place): names of the images of the
 * test part, one a line. */
sotto_status chest_xray_from_memory(struct image_facts *out, const char *text, size_t size, char *tests,
                                    size_t tests_size, const char *name, const char *label,
                                    const char *attribute);

#endif
