/* CIFAR-10 with two labels: the task is to tell animals from vehicles, the attribute is the class. A task
 * model needs one bit of an image; what its embeddings say beyond that bit about the ten classes is leakage.
 * (As indoor or outdoor is the task and the scene the attribute on Places.) Made from the imported
 * cifar10. */
#include "data/store/store.h"

#include <string.h>

enum { CLASSES = 10, KINDS = 2, ANIMAL = 0, VEHICLE = 1 };
static const char *const kind_names[KINDS] = {"animal", "vehicle"};
/* airplane automobile bird cat deer dog frog horse ship truck */
static const unsigned char kind_of[CLASSES] = {VEHICLE, VEHICLE, ANIMAL, ANIMAL,  ANIMAL,
                                               ANIMAL,  ANIMAL,  ANIMAL, VEHICLE, VEHICLE};

static void dataset_cifar10_kinds_locate(char *path, size_t capacity)
{
    char folder[4096];
    path[0] = '\0';
    if (store_find(folder, sizeof folder, "cifar10") && strlen(folder) < capacity)
        strcpy(path, folder);
}

static sotto_status open_kinds(struct dataset *d, const char *name, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    char folder[4096];
    (void)ctx;
    if (!store_find(folder, sizeof folder, "cifar10")) {
        status = status_fail(SOTTO_ENOENT, "data set '%s' is made from cifar10, which was not found", name);
        status_hint("run 'sotto data import PATH --name cifar10' or 'sotto data fetch cifar10'");
        goto done;
    }
    TRY(store_read(d, folder));
    if (d->set.classes != CLASSES || !d->labels || d->attribute)
        FAIL(SOTTO_EFORMAT, "%s: holds %zu classes; expected CIFAR-10's %d", folder, d->set.classes, CLASSES);
    TRY(dataset_reserve_attribute(d, "class", CLASSES, d->set.class_names));
    memcpy(d->attribute, d->labels, d->set.n * sizeof *d->attribute);
    for (size_t i = 0; i < d->set.n; i++) {
        if (d->labels[i] < 0 || d->labels[i] >= CLASSES)
            FAIL(SOTTO_EFORMAT, "%s: record %zu has label %lld; expected 0 to %d", folder, i,
                 (long long)d->labels[i], CLASSES - 1);
        d->labels[i] = kind_of[d->labels[i]];
    }
    TRY(dataset_set_classes(d, KINDS, kind_names));
    d->recorded = false;
    d->set.sha256[0] = '\0';
done:
    return status;
}

const struct dataset_source source_cifar10_kinds = {
    .name = "cifar10-kinds",
    .title = "CIFAR-10: animal or vehicle; attribute: the class",
    .origin = "made from cifar10",
    .licence = "as cifar10",
    .obtain = "import or fetch cifar10, from which it is made",
    .classes = KINDS,
    .class_names = kind_names,
    .locate = dataset_cifar10_kinds_locate,
    .open = open_kinds};
