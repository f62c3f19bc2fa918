/* The order of a folder's images: split (training first), class, file name; classes by number where their
 * names are numbers, else by bytes. */
#include "data/files/image_paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool is_image(const char *name)
{
    static const char *const endings[] = {".png", ".jpg", ".jpeg", ".pgm",  ".webp", ".bmp",
                                          ".gif", ".tif", ".tiff", ".heic", ".heif", ".avif"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (name_ends(name, endings[i]))
            return true;
    return false;
}

bool images_any(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (is_image(b->entries[i].name))
            return true;
    return false;
}

/* Which split a folder name means; -1: none. */
static int split_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        int split;
    } known[] = {{"train", 0},      {"training", 0}, {"val", 1},    {"valid", 1},
                 {"validation", 1}, {"test", 2},     {"testing", 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && strncmp(name, known[i].name, length) == 0)
            return known[i].split;
    return -1;
}

static size_t image_paths_component(const char *name)
{
    return strcspn(name, "/");
}

/* Bytes of the leading folders that all images share and that say nothing ("CIFAR-10-images/"): at least
 * one folder level must stay below, and a split's name is never dropped. */
static size_t shared_prefix(const struct image_list *l, const struct bundle *b)
{
    size_t prefix = 0;
    for (;;) {
        const char *first = b->entries[l->items[0].entry].name + prefix;
        size_t length = image_paths_component(first);
        if (first[length] != '/' || split_of(first, length) >= 0)
            return prefix;
        for (size_t i = 0; i < l->n; i++) {
            const char *name = b->entries[l->items[i].entry].name + prefix;
            if (strncmp(name, first, length + 1) != 0 || !strchr(name + length + 1, '/'))
                return prefix;
        }
        prefix += length + 1;
    }
}

static sotto_status image_paths_place(struct image_list *l, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    size_t prefix = shared_prefix(l, b), depth = 0;
    bool splits = true;
    for (size_t i = 0; i < l->n; i++) {
        const char *name = b->entries[l->items[i].entry].name + prefix;
        splits = splits && name[image_paths_component(name)] == '/' &&
                 split_of(name, image_paths_component(name)) >= 0;
    }
    for (size_t i = 0; i < l->n; i++) {
        struct image *p = &l->items[i];
        const char *name = b->entries[p->entry].name + prefix;
        if (splits) {
            p->split = split_of(name, image_paths_component(name));
            name += image_paths_component(name) + 1;
        }
        size_t length = image_paths_component(name), levels = 0;
        for (const char *c = name; *c; c++)
            levels += *c == '/';
        if (i == 0)
            depth = levels;
        if (levels > 1 || levels != depth)
            FAIL(SOTTO_EFORMAT, "%s: %s is %s; expected split/class/IMAGE or class/IMAGE for all images",
                 b->origin, b->entries[p->entry].name,
                 levels > 1 ? "in too many nested folders" : "at another folder depth than the other images");
        p->class_name = name;
        p->class_length = levels ? length : 0;
    }
    l->labelled = depth > 0;
done:
    return status;
}

static bool all_digits(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return length > 0;
}

static int compare_classes(const struct image *a, const struct image *b)
{
    bool x = all_digits(a->class_name, a->class_length), y = all_digits(b->class_name, b->class_length);
    if (x != y)
        return x ? -1 : 1;
    if (x && a->class_length != b->class_length) {
        unsigned long long p = strtoull(a->class_name, NULL, 10), q = strtoull(b->class_name, NULL, 10);
        if (p != q)
            return p < q ? -1 : 1;
    }
    size_t shorter = a->class_length < b->class_length ? a->class_length : b->class_length;
    int order = memcmp(a->class_name, b->class_name, shorter);
    return order ? order : (a->class_length > b->class_length) - (a->class_length < b->class_length);
}

static int by_class(const void *a, const void *b)
{
    const struct image *p = a, *q = b;
    int order = compare_classes(p, q);
    return order ? order : (p->entry > q->entry) - (p->entry < q->entry);
}

static int by_split(const void *a, const void *b)
{
    const struct image *p = a, *q = b;
    return p->split != q->split ? p->split - q->split : by_class(a, b);
}

sotto_status images_number(struct image_list *l, char ***names, size_t *count)
{
    sotto_status status = SOTTO_OK;
    qsort(l->items, l->n, sizeof *l->items, by_class);
    *count = 0;
    NEW(*names, l->n);
    for (size_t i = 0; i < l->n; i++) {
        struct image *p = &l->items[i];
        if (i == 0 || compare_classes(p - 1, p) != 0) {
            char *name = NULL;
            NEW(name, p->class_length + 1);
            memcpy(name, p->class_name, p->class_length);
            (*names)[(*count)++] = name;
        }
        p->label = (int64_t)*count - 1;
    }
done:
    return status;
}

void images_arrange(struct image_list *l)
{
    qsort(l->items, l->n, sizeof *l->items, by_split);
    l->n_train = 0;
    while (l->n_train < l->n && l->items[l->n_train].split == 0)
        l->n_train++;
}

sotto_status images_list(struct image_list *out, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    struct image_list l = {0};
    NEW(l.items, b->count);
    for (size_t i = 0; i < b->count; i++)
        if (is_image(b->entries[i].name))
            l.items[l.n++].entry = i;
    TRY(image_paths_place(&l, b));
    TRY(images_number(&l, &l.class_names, &l.classes));
    images_arrange(&l);
    *out = l;
done:
    if (status != SOTTO_OK)
        images_clear(&l);
    return status;
}

void images_clear(struct image_list *l)
{
    for (size_t k = 0; k < l->classes; k++)
        base_free(l->class_names[k]);
    for (size_t v = 0; v < l->values; v++)
        base_free(l->value_names[v]);
    base_free(l->class_names);
    base_free(l->value_names);
    base_free(l->items);
    *l = (struct image_list){0};
}
