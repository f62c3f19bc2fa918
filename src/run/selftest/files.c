/* Files written and read back: bits must survive, and a cut file must be refused. */
#include "base/file.h"
#include "base/sha256.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "selftest/checks.h"
#include "sotto/private/io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 3, COLUMNS = 5 };

static sotto_status files_make(struct sotto_array *a)
{
    const size_t shape[] = {ROWS, COLUMNS};
    sotto_status status = sotto_array_make(a, SOTTO_F4, 2, shape);
    if (status != SOTTO_OK)
        return status;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        ((float *)a->data)[i] = ldexpf((float)(2 * i + 1), 7 * i - 60);
    return SOTTO_OK;
}

static bool files_same(const struct sotto_array *a, const struct sotto_array *b)
{
    return b && a->dtype == b->dtype && a->count == b->count &&
           memcmp(a->data, b->data, a->count * sizeof(float)) == 0;
}

static void check_npy(struct checks *c, const char *folder, const struct sotto_array *a)
{
    struct sotto_array back = {0}, cut = {0};
    char path[512];
    unsigned char *data = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/a.npy", folder);
    sotto_status status = sotto_npy_save(path, a);
    if (status == SOTTO_OK)
        status = npy_load(&back, path);
    checks_note(c, ".npy written and read back", status == SOTTO_OK && files_same(a, &back), "%s",
                status == SOTTO_OK ? "same bits expected" : sotto_error_text());
    if (status == SOTTO_OK)
        status = file_read(&data, &size, path, 1 << 20);
    if (status == SOTTO_OK)
        status = file_write(path, data, size - 1);
    bool refused = status == SOTTO_OK && npy_load(&cut, path) == SOTTO_EFORMAT;
    checks_note(c, ".npy cut by one byte is refused", refused, "%s",
                refused ? "refused" : sotto_error_text());
    base_free(data);
    sotto_array_clear(&back);
    sotto_array_clear(&cut);
    unlink(path);
}

static void check_safetensors(struct checks *c, const char *folder, const struct sotto_array *a)
{
    struct sotto_tensors t = {0}, back = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
    sotto_status status = tensors_add(&t, "0.weight", a->dtype, a->ndim, a->shape, a->data);
    if (status == SOTTO_OK)
        status = tensors_set_metadata(&t, "recipe", "selftest");
    if (status == SOTTO_OK)
        status = safetensors_save(path, &t);
    if (status == SOTTO_OK)
        status = safetensors_load(&back, path);
    const char *recipe = tensors_metadata(&back, "recipe");
    checks_note(c, ".safetensors written and read back",
                status == SOTTO_OK && files_same(a, tensors_find(&back, "0.weight")) && recipe &&
                    strcmp(recipe, "selftest") == 0,
                "%s", status == SOTTO_OK ? "same bits and metadata expected" : sotto_error_text());
    sotto_tensors_clear(&t);
    sotto_tensors_clear(&back);
    unlink(path);
}

void selftest_files(struct checks *c, const char *folder)
{
    c->group = "files";
    struct sotto_array a = {0};
    if (files_make(&a) != SOTTO_OK) {
        c->out_of_memory = true;
        return;
    }
    check_npy(c, folder, &a);
    check_safetensors(c, folder, &a);
    sotto_array_clear(&a);
}
