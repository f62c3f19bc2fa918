/* A fact names its image by a path; which image is meant says the longest common end of the two paths. */
#include "data/format/image_facts.h"

#include <stdlib.h>
#include <string.h>

sotto_status image_facts_add(struct image_facts *f, const char *path, size_t path_length, int split,
                             const char *label, const char *attribute)
{
    sotto_status status = SOTTO_OK;
    char *copy = NULL;
    if (!label[0] || (attribute && !attribute[0]) || path_length == 0)
        FAIL(SOTTO_EFORMAT, "'%.80s': its label, attribute or path is empty", path);
    attribute = attribute ? attribute : "";
    if (strlen(label) >= PICTURE_TEXT || strlen(attribute) >= PICTURE_TEXT)
        FAIL(SOTTO_EFORMAT, "'%.80s': its label or attribute is too long; expected less than %d bytes", path,
             PICTURE_TEXT);
    if (f->n == f->capacity) {
        size_t capacity = f->capacity ? 2 * f->capacity : 256;
        REGROW(f->items, f->capacity, capacity);
        f->capacity = capacity;
    }
    NEW(copy, path_length + 1);
    memcpy(copy, path, path_length);
    struct image_fact *fact = &f->items[f->n++];
    *fact = (struct image_fact){.path = copy, .split = split};
    strcpy(fact->label, label);
    strcpy(fact->attribute, attribute);
done:
    return status;
}

void image_facts_clear(struct image_facts *f)
{
    for (size_t i = 0; i < f->n; i++)
        base_free(f->items[i].path);
    base_free(f->items);
    *f = (struct image_facts){0};
}

/* Images of the bundle by their last component. */
struct place {
    const char *name, *base;
    size_t entry, fact; /* fact: 1 + the one that was given to it; 0: none yet */
};

static int by_base(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    int order = strcmp(p->base, q->base);
    return order ? order : strcmp(p->name, q->name);
}

/* How many whole components two paths have in common at their ends. */
static size_t common_end(const char *a, const char *b)
{
    size_t i = strlen(a), j = strlen(b), components = 0;
    while (i > 0 && j > 0 && a[i - 1] == b[j - 1]) {
        i--, j--;
        components += a[i] == '/' || (i == 0 && j == 0);
    }
    bool whole = (i == 0 || a[i - 1] == '/') && (j == 0 || b[j - 1] == '/') && (i > 0 || j > 0);
    return components + whole;
}

/* The image that a fact means, NULL: none. EFORMAT: several fit as well. */
static sotto_status image_facts_find(struct place **out, struct place *places, size_t n, const char *path)
{
    struct place wanted = {.name = "", .base = path_base(path)};
    size_t low = 0, high = n, best = 0, ties = 0;
    *out = NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_base(&places[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i < n && strcmp(places[i].base, wanted.base) == 0; i++) {
        size_t common = common_end(places[i].name, path);
        ties = common > best ? 1 : ties + (common == best);
        if (common > best) {
            best = common;
            *out = &places[i];
        }
    }
    if (ties > 1)
        return status_fail(SOTTO_EFORMAT, "'%.200s' matches %zu images; expected exactly one", path, ties);
    return SOTTO_OK;
}

static sotto_status image_facts_join(struct image_list *l, size_t *missing, struct place *places, size_t n,
                                     const struct image_facts *f)
{
    sotto_status status = SOTTO_OK;
    for (size_t i = 0; i < f->n; i++) {
        struct place *p;
        TRY(image_facts_find(&p, places, n, f->items[i].path));
        if (!p) {
            ++*missing;
            continue;
        }
        if (p->fact)
            FAIL(SOTTO_EFORMAT, "'%.200s' is listed twice", f->items[i].path);
        p->fact = i + 1;
        l->items[l->n++] = (struct image){.entry = p->entry, .split = f->items[i].split, .label = (int64_t)i};
    }
done:
    return status;
}

/* Attribute first, as numbering writes into `label`: until then that is the number of the fact. */
static sotto_status image_facts_number(struct image_list *l, const struct image_facts *f)
{
    sotto_status status = SOTTO_OK;
    const bool second = f->attribute_name[0] != '\0';
    for (size_t i = 0; i < l->n; i++) {
        const struct image_fact *of = &f->items[l->items[i].label];
        l->items[i].attribute = l->items[i].label;
        l->items[i].class_name = second ? of->attribute : of->label;
        l->items[i].class_length = strlen(l->items[i].class_name);
    }
    if (second)
        TRY(images_number(l, &l->value_names, &l->values));
    for (size_t i = 0; second && i < l->n; i++) {
        const struct image_fact *of = &f->items[l->items[i].attribute];
        l->items[i].attribute = l->items[i].label;
        l->items[i].class_name = of->label;
        l->items[i].class_length = strlen(of->label);
    }
    TRY(images_number(l, &l->class_names, &l->classes));
    if (l->classes < 2 || (second && l->values < 2))
        FAIL(SOTTO_EFORMAT, "all images have the %s '%s'; expected at least two values",
             l->classes < 2 ? "label" : "attribute", l->classes < 2 ? l->class_names[0] : l->value_names[0]);
    l->labelled = true;
    strcpy(l->attribute_name, f->attribute_name);
    images_arrange(l);
done:
    return status;
}

sotto_status image_facts_read(struct dataset *d, const struct image_facts *f, const struct bundle *b,
                              const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_list l = {0};
    struct place *places = NULL;
    size_t images = 0, missing = 0;
    NEW(l.items, f->n);
    NEW(places, b->count);
    for (size_t i = 0; i < b->count; i++)
        if (is_image(b->entries[i].name))
            places[images++] =
                (struct place){.name = b->entries[i].name, .base = path_base(b->entries[i].name), .entry = i};
    qsort(places, images, sizeof *places, by_base);
    status = image_facts_join(&l, &missing, places, images, f);
    if (status == SOTTO_OK && l.n == 0)
        status = status_fail(SOTTO_EFORMAT, "none of %zu listed images is among the %zu images found", f->n,
                             images);
    if (status == SOTTO_OK)
        status = image_facts_number(&l, f);
    if (status != SOTTO_OK) {
        status_prefix(b->origin);
        goto done;
    }
    if (missing > 0 || images > l.n)
        context_log(ctx, SOTTO_LOG_WARNING,
                    "%s: left out %zu listed images that were not found, and %zu images that are not listed",
                    b->origin, missing, images - l.n);
    TRY(image_set_read(d, b, &l, options, ctx));
done:
    images_clear(&l);
    base_free(places);
    return status;
}
