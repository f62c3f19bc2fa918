/* The released file: its hash, how many values it holds, and which release it says that it came out of. */
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "dp/mechanism/mechanism.h"
#include "dp/release/verify_values.h"
#include "io/array/npy.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"

#include <stdio.h>
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Noise went on every value that the file holds; of candidates one came out, or several. */
static void check_values(struct verification *v, size_t values)
{
    const struct mechanism *m = mechanism_find(v->claims.mechanism);
    const bool choice = m && m->kind == RELEASE_CHOICE, several = choice && m->choose == flip_draw;
    const size_t least = choice ? 1 : v->claims.dimension,
                 most = several || !choice ? v->claims.dimension : 1;
    verify_check(v, "values", values >= least && values <= most,
                 "the file holds %zu values; expected %zu, to which noise was added or which were chosen",
                 values, most);
}

/* All values as one vector, in file order. */
static sotto_status check_released(struct verification *v, const struct sotto_array *const *arrays,
                                   size_t count)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array copy = {0};
    double *x = NULL;
    size_t n = 0, at = 0;
    bool floats = false;
    for (size_t i = 0; i < count; i++)
        n += arrays[i]->count;
    NEW(x, n + 1);
    for (size_t i = 0; i < count; i++) {
        floats = floats || arrays[i]->dtype == SOTTO_F4 || arrays[i]->dtype == SOTTO_F2;
        TRY(sotto_array_make(&copy, arrays[i]->dtype, arrays[i]->ndim, arrays[i]->shape));
        memcpy(copy.data, arrays[i]->data, copy.count * sotto_dtype_size(copy.dtype));
        TRY(sotto_array_convert(&copy, SOTTO_F8));
        memcpy(x + at, copy.data, copy.count * sizeof *x);
        at += copy.count;
        sotto_array_clear(&copy);
    }
    verify_values(v, x, n, floats);
done:
    sotto_array_clear(&copy);
    base_free(x);
    return status;
}

static sotto_status check_released_tensors(struct verification *v, const struct sotto_tensors *t)
{
    sotto_status status = SOTTO_OK;
    const struct sotto_array **arrays = NULL;
    if (!tensors_metadata(t, "release"))
        goto done;
    NEW(arrays, t->count + 1);
    for (size_t i = 0; i < t->count; i++)
        arrays[i] = &t->items[i].array;
    TRY(check_released(v, arrays, t->count));
done:
    base_free(arrays);
    return status;
}

static void check_metadata(struct verification *v, const struct sotto_tensors *t)
{
    const char *release = tensors_metadata(t, "release"), *privacy = tensors_metadata(t, "privacy");
    size_t values = 0;
    if (!release) /* a file that its trainer made out of a release */
        return;
    for (size_t i = 0; i < t->count; i++)
        values += t->items[i].array.count;
    check_values(v, values);
    verify_check(v, "training_sha256", !tensors_metadata(t, "training_sha256"),
                 "the file holds a checksum of weights before noise was added");
    verify_check(v, "release in the file", strcmp(release, v->claims.hash) == 0,
                 "the file names entry %.16s..., the certificate %.16s...", release, v->claims.hash);
    verify_check(v, "statement in the file",
                 privacy && v->claims.statement && strcmp(privacy, v->claims.statement) == 0, "%.300s",
                 privacy ? privacy : "(none)");
    verify_done(v, "the file names this release");
}

/* Labels that were released with the records: they are looked for where sotto_protect_records() puts them. */
static sotto_status check_labels(struct verification *v, const char *output)
{
    sotto_status status = SOTTO_OK;
    static const char tail[] = ".labels.npy";
    const char *wanted = v->claims.labels;
    char found[SHA256_HEX], *path = NULL;
    size_t stem = strlen(output) - strlen(".npy"), capacity = stem + sizeof tail;
    if (!wanted)
        goto done;
    verify_check(v, "label release", v->claims.run && v->claims.run_claims.facts.label_scale > 0,
                 "the certificate holds a hash of labels, and %s their release",
                 v->claims.run && v->claims.run_claims.facts.label_scale > 0 ? "counts" : "does not count");
    NEW(path, capacity);
    snprintf(path, capacity, "%.*s%s", (int)stem, output, tail);
    if (!file_exists(path)) {
        verify_leave(v, "released labels", "the released labels, as there is no %s", path);
        goto done;
    }
    TRY(sha256_file_asking(found, path, v->ctx));
    verify_check(v, "released labels", strcmp(found, wanted) == 0,
                 "%s has SHA-256 %.16s..., the certificate says %.16s...", path, found, wanted);
done:
    base_free(path);
    return status;
}

static sotto_status check_contents(struct verification *v, const char *output)
{
    sotto_status status = SOTTO_OK;
    struct sotto_tensors t = {0};
    struct sotto_array a = {0};
    if (ends_with(output, ".safetensors")) {
        TRY(safetensors_load_asking(&t, output, v->ctx));
        check_metadata(v, &t);
        TRY(check_released_tensors(v, &t));
    } else if (ends_with(output, ".npy")) {
        TRY(npy_load_asking(&a, output, v->ctx));
        check_values(v, a.count);
        TRY(check_released(v, &(const struct sotto_array *){&a}, 1));
        TRY(check_labels(v, output));
    }
done:
    sotto_tensors_clear(&t);
    sotto_array_clear(&a);
    return status;
}

sotto_status verify_output(struct verification *v, const char *output)
{
    sotto_status status = SOTTO_OK;
    char hash[SHA256_HEX];
    if (!output) {
        verify_leave(v, "released file", "the released file, as none was given");
        goto done;
    }
    TRY(sha256_file_asking(hash, output, v->ctx));
    bool same = strcmp(hash, v->claims.output) == 0;
    verify_check(v, "released file", same, "%s has SHA-256 %.16s..., the certificate says %.16s...", output,
                 hash, v->claims.output);
    if (!same)
        goto done;
    verify_done(v, "released file's hash matches");
    status = check_contents(v, output);
    if (status == SOTTO_EFORMAT) {
        verify_check(v, "released file", false, "%s", sotto_error_text());
        status = SOTTO_OK;
    }
done:
    return status;
}
