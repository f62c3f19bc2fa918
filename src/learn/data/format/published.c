/* Sets as they are published that the program does not read: `python -m sotto.datasets` writes labels.csv or arrays
 * of them. Without this row their images would pass for an unlabelled folder. */
#include "data/files/image_paths.h"
#include "data/format/format.h"

#include <fnmatch.h>
#include <string.h>

static const struct {
    const char *set, *file;
    bool images; /* a mark beside images only */
} published[] = {{"celeba", "list_attr_celeba.txt", true},
                 {"chest-xray", "Data_Entry_*.csv", true},
                 {"idc", "*_idx[0-9]*_x[0-9]*_y[0-9]*_class[01].png", true},
                 {"places", "places*.json", true},
                 {"purchase", "dataset_purchase", false},
                 {"svhn", "*_32x32.mat", false},
                 {"texas", "feats", false},
                 {"utkface", "[0-9]*_[01]_[0-4]_201[67][0-9]*.jpg*", true}};
enum { SETS = sizeof published / sizeof *published };

bool published_set(const char *name)
{
    for (size_t k = 0; k < SETS; k++)
        if (strcmp(published[k].set, name) == 0)
            return true;
    return false;
}

/* NULL: none of them. */
static const char *published_in(const struct bundle *b)
{
    const bool images = images_any(b);
    for (size_t k = 0; k < SETS; k++)
        for (size_t i = 0; i < b->count && (images || !published[k].images); i++)
            if (fnmatch(published[k].file, path_base(b->entries[i].name), 0) == 0)
                return published[k].set;
    return NULL;
}

static bool published_recognise(const struct bundle *b)
{
    return published_in(b) != NULL;
}

static sotto_status published_refuse(struct dataset *d, const struct bundle *b,
                                     const struct sotto_import_options *options,
                                     const struct sotto_context *ctx)
{
    const char *set = published_in(b);
    (void)d, (void)options, (void)ctx;
    sotto_status status = status_fail(
        SOTTO_EFORMAT, "%s: contains the set '%s' as it is published, which is not read", b->origin, set);
    status_hint("run 'python -m sotto.datasets %s %s -o FOLDER', then give FOLDER", set, b->origin);
    return status;
}

const struct dataset_format format_published = {
    .name = "published",
    .layout =
        "celeba, chest-xray, idc, places, purchase, svhn, texas, utkface: 'python -m sotto.datasets NAME' "
        "writes labels.csv or arrays of them",
    .takes_size = true,
    .takes_label = true,
    .takes_attribute = true,
    .recognise = published_recognise,
    .read = published_refuse};
