/* Names say patient, place and class. A few patches at the borders of tissue are smaller than 50x50: they are
 * left out. Patients stay whole, so that training and test parts never share one. */
#include "data/format/idc.h"

#include "data/format/image_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 50 };
static const double train_share = 39952.0 / 277524;

/* `word` and then 1 to 9 digits. */
static bool number_after(unsigned long *out, const char **at, const char *word)
{
    size_t length = strlen(word), digits;
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > 9)
        return false;
    *out = strtoul(*at, NULL, 10);
    *at += digits;
    return true;
}

bool idc_name_read(struct idc_name *out, const char *path)
{
    struct idc_name name;
    const char *at = path_base(path);
    unsigned long magnification, label;
    if (!number_after(&name.patient, &at, "") || !number_after(&magnification, &at, "_idx") ||
        !number_after(&name.x, &at, "_x") || !number_after(&name.y, &at, "_y") ||
        !number_after(&label, &at, "_class") || label > 1 || !name_ends(at, ".png") || strlen(at) != 4)
        return false;
    name.label = (int)label;
    *out = name;
    return true;
}

/* Does the folder above say another class? Files without such a folder are taken at their word. */
static bool idc_contradicts(const char *path, int label)
{
    const char *base = path_base(path);
    if (base - path < 2 || (base - path > 2 && base[-3] != '/'))
        return false;
    return (base[-2] == '0' || base[-2] == '1') && base[-2] - '0' != label;
}

struct patch {
    struct idc_name name;
    uint64_t order; /* of the patient */
    size_t entry;
};

/* splitmix64's last step: any fixed shuffle would do. */
static uint64_t idc_shuffled(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static int idc_compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_patient(const void *a, const void *b)
{
    const struct patch *p = a, *q = b;
    int order = idc_compare(p->order, q->order);
    order = order ? order : idc_compare(p->name.patient, q->name.patient);
    order = order ? order : idc_compare(p->name.y, q->name.y);
    order = order ? order : idc_compare(p->name.x, q->name.x);
    return order ? order : idc_compare(p->entry, q->entry);
}

static bool same_place(const struct idc_name *a, const struct idc_name *b)
{
    return a->patient == b->patient && a->x == b->x && a->y == b->y;
}

static sotto_status idc_collect(struct patch *patches, size_t *n, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    *n = 0;
    for (size_t i = 0; i < b->count; i++) {
        struct patch *p = &patches[*n];
        const char *name = b->entries[i].name;
        if (!name_ends(name, ".png"))
            continue;
        if (!idc_name_read(&p->name, name))
            FAIL(SOTTO_EFORMAT,
                 "%s: %s is not the file name of a patch; expected PATIENT_idx5_xX_yY_class0.png or "
                 "_class1.png",
                 b->origin, name);
        if (idc_contradicts(name, p->name.label))
            FAIL(SOTTO_EFORMAT, "%s: %s is named class %d but is in folder %c", b->origin, name,
                 p->name.label, path_base(name)[-2]);
        p->entry = i;
        p->order = idc_shuffled(p->name.patient);
        ++*n;
    }
    if (*n == 0)
        FAIL(SOTTO_EFORMAT, "%s: holds no patches", b->origin);
done:
    return status;
}

/* Whole patients, until the training part has its share; at least one. */
static size_t count_train(const struct patch *patches, const struct image_list *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        bool new_patient = i == 0 || patches[i].name.patient != patches[i - 1].name.patient;
        if (new_patient && i > 0 && (double)i >= train_share * (double)l->n)
            break;
        n = i + 1;
    }
    return n;
}

static sotto_status name_classes(struct image_list *l)
{
    sotto_status status = SOTTO_OK;
    NEW(l->class_names, 2);
    for (; l->classes < 2; l->classes++)
        NEW_TEXT(l->class_names[l->classes], l->classes ? "IDC" : "no IDC");
    l->labelled = true;
done:
    return status;
}

sotto_status idc_list(struct image_list *out, size_t *twice, const struct bundle *b)
{
    sotto_status status = SOTTO_OK;
    struct image_list l = {0};
    struct patch *patches = NULL;
    size_t n, kept = 0;
    NEW(patches, b->count);
    NEW(l.items, b->count);
    TRY(idc_collect(patches, &n, b));
    qsort(patches, n, sizeof *patches, by_patient);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && same_place(&patches[kept - 1].name, &patches[i].name))
            continue;
        patches[kept] = patches[i];
        l.items[kept++] = (struct image){.entry = patches[i].entry, .label = patches[i].name.label};
    }
    l.n = kept;
    *twice = n - kept;
    l.n_train = count_train(patches, &l);
    for (size_t i = l.n_train; i < l.n; i++)
        l.items[i].split = 2;
    TRY(name_classes(&l));
    *out = l;
    l = (struct image_list){0};
done:
    base_free(patches);
    images_clear(&l);
    return status;
}

static bool idc_recognise(const struct bundle *b)
{
    struct idc_name name;
    for (size_t i = 0; i < b->count; i++)
        if (name_ends(b->entries[i].name, ".png"))
            return idc_name_read(&name, b->entries[i].name);
    return false;
}

static sotto_status read_patches(struct dataset *d, const struct bundle *b,
                                 const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct image_list l = {0};
    size_t twice, dropped;
    TRY(idc_list(&l, &twice, b));
    TRY(image_set_keep_size(&l, &dropped, b, SIDE, SIDE, ctx));
    TRY(image_set_read(d, b, &l, options, ctx));
    snprintf(d->set.origin, sizeof d->set.origin, "%zu patches; left out: %zu that are not %dx%d, %zu twice",
             d->set.n, dropped, SIDE, SIDE, twice);
done:
    images_clear(&l);
    return status;
}

const struct dataset_format format_idc = {
    .name = "idc",
    .layout = "patient/class/PATIENT_idx5_xX_yY_classC.png: patches of breast tissue",
    .set = "idc",
    .takes_size = true,
    .recognise = idc_recognise,
    .read = read_patches};
