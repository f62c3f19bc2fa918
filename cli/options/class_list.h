/* class_list.h - classes that the caller gives: --classes K, or --classes FILE with one name a line. */
#ifndef CLI_OPTIONS_CLASS_LIST_H
#define CLI_OPTIONS_CLASS_LIST_H

#include "options/options.h"

struct class_list {
    size_t count; /* 0: --classes was not given */
    char **names; /* (count), owned; NULL: a count was given */
};
/* EUSAGE: no class; ENOENT, EFORMAT: the file is missing, or a line of it is empty or there twice. Clear also
 * after a failure. */
sotto_status class_list_read(struct class_list *out, const struct options *o);
void class_list_clear(struct class_list *l);
/* Labels (n) that number `from` (count names) become numbers of the list; -1: it has no such name, or a label
 * is no number of `from`. */
void class_list_translate(int64_t *labels, size_t n, const char *const *from, size_t count,
                          const struct class_list *to);

#endif
