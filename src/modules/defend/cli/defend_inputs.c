#include "defend_inputs.h"

#include "inputs/head_inputs.h"
#include "inputs/private_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <stdio.h>
#include <unistd.h>

static size_t count_of(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

/* Keeps a path (of `length` characters) and its role. */
static sotto_status keep_path(const char **out, struct defend_inputs *in, const char *role, const char *path,
                              size_t length)
{
    if (in->file_count == DEFEND_FILES || length >= DEFEND_PATH)
        return cli_fail(SOTTO_EUSAGE,
                        "defend: too many or too long file names; expected at most %d files with paths below "
                        "%d characters",
                        DEFEND_FILES, DEFEND_PATH);
    char *kept = in->paths[in->file_count];
    memcpy(kept, path, length);
    kept[length] = '\0';
    in->files[in->file_count++] = (struct sotto_defence_file){role, kept};
    *out = kept;
    return SOTTO_OK;
}

/* Adds the rows of b to a (both 2-D f4 or both 1-D i8); b is left empty. */
static sotto_status defend_inputs_stack(struct sotto_array *a, struct sotto_array *b)
{
    struct sotto_array both = {0};
    size_t shape[2] = {a->shape[0] + b->shape[0], b->shape[1]}, item = sotto_dtype_size(b->dtype);
    sotto_status status = SOTTO_OK;
    if (!a->count) {
        *a = *b;
        *b = (struct sotto_array){0};
        return SOTTO_OK;
    }
    TRY(sotto_array_make(&both, b->dtype, b->ndim, shape));
    memcpy(both.data, a->data, a->count * item);
    memcpy((char *)both.data + a->count * item, b->data, b->count * item);
    sotto_array_clear(a);
    *a = both;
done:
    sotto_array_clear(b);
    return status;
}

/* One value for n rows, as text. */
static sotto_status defend_inputs_repeat(struct sotto_array *out, const char *text, size_t n,
                                         const char *option)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || value < 0)
        return cli_fail(SOTTO_EUSAGE,
                        "defend: --%s: the protected label '%s' is neither a file nor a whole number >= 0",
                        option, text);
    TRY_OR_RETURN(sotto_array_make(out, SOTTO_I8, 1, &n));
    for (size_t i = 0; i < n; i++)
        ((int64_t *)out->data)[i] = value;
    return SOTTO_OK;
}

/* A number is a protected label, and so is a word that names no file, for an error that speaks of both. */
static bool is_file(const char *text)
{
    return text[strspn(text, "+-0123456789")] != '\0' && (strpbrk(text, "./:") || access(text, F_OK) == 0);
}

static bool ends_before(const char *text, const char *end, const char *ending)
{
    size_t length = strlen(ending);
    return (size_t)(end - text) > length && memcmp(end - length, ending, length) == 0;
}

/* The colon before the protected label: the first that is not the one of FILE.npz:NAME. */
static const char *find_colon(const char *entry)
{
    const char *colon = strchr(entry, ':');
    while (colon && (ends_before(entry, colon, ".npz") || ends_before(entry, colon, ".safetensors")) &&
           is_file(colon + 1))
        colon = strchr(colon + 1, ':');
    return colon;
}

/* One entry "X.npy[:SECRET]". */
static sotto_status load_part(struct defend_rows *r, struct defend_inputs *in, const char *entry,
                              const char *option, const char *defence)
{
    struct sotto_array x = {0}, protected_label = {0};
    const char *colon = find_colon(entry), *path, *file;
    size_t length = colon ? (size_t)(colon - entry) : strlen(entry), n = 0;
    if (r->parts == DEFEND_PARTS)
        return cli_fail(SOTTO_EUSAGE, "defend: --%s is given too often; expected at most %d times", option,
                        DEFEND_PARTS);
    sotto_status status = SOTTO_OK;
    TRY(keep_path(&path, in, option, entry, length));
    TRY(head_features_load(&x, path));
    TRY(sotto_defence_check(defence, x.data, n = x.shape[0], x.shape[1], path));
    if (r->parts && x.shape[1] != r->d)
        TRY(cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s has %zu", path, x.shape[1], r->path[0], r->d));
    if (colon && !is_file(colon + 1)) {
        TRY(defend_inputs_repeat(&protected_label, colon + 1, n, option));
    } else if (colon) {
        TRY(keep_path(&file, in, option, colon + 1, strlen(colon + 1)));
        TRY(head_labels_load(&protected_label, file, 0));
    }
    if (colon && protected_label.count != n)
        TRY(cli_fail(SOTTO_EINVAL,
                     "%s has %zu values but %s has %zu rows; expected one protected label per row", colon + 1,
                     protected_label.count, path, n));
    if (r->parts && (colon != NULL) != (r->protected_label.count > 0))
        TRY(cli_fail(
            SOTTO_EUSAGE,
            "defend: only some files of --%s have a protected label; give one for all of them, or for none",
            option));
    r->path[r->parts] = path;
    r->part[r->parts++] = n;
    r->n += n, r->d = x.shape[1];
    TRY(defend_inputs_stack(&r->x, &x));
    if (colon)
        TRY(defend_inputs_stack(&r->protected_label, &protected_label));
done:
    sotto_array_clear(&x);
    sotto_array_clear(&protected_label);
    return status;
}

static sotto_status load_labels(struct defend_rows *r, struct defend_inputs *in, const struct options *o,
                                const char *option)
{
    const char *const *list = option_list(o, option), *path;
    int64_t first;
    sotto_status status = SOTTO_OK;
    struct sotto_array y = {0};
    TRY(option_labels_from(&first, o));
    if (count_of(list) == 0)
        return SOTTO_OK;
    if (count_of(list) != r->parts)
        return cli_fail(SOTTO_EUSAGE,
                        "defend: --%s names %zu files but there are %zu files of rows; expected one for each",
                        option, count_of(list), r->parts);
    for (size_t i = 0; i < r->parts; i++) {
        TRY(keep_path(&path, in, option, list[i], strlen(list[i])));
        TRY(head_labels_load(&y, path, first));
        if (y.count != r->part[i])
            TRY(cli_fail(SOTTO_EINVAL, "%s has %zu labels but %s has %zu rows", path, y.count, r->path[i],
                         r->part[i]));
        TRY(defend_inputs_stack(&r->label, &y));
    }
done:
    sotto_array_clear(&y);
    return status;
}

static sotto_status load_rows(struct defend_rows *r, struct defend_inputs *in, const struct options *o,
                              const char *option, bool protected_labels)
{
    const char *const *list = option_list(o, option);
    for (size_t i = 0; list && list[i]; i++)
        TRY_OR_RETURN(load_part(r, in, list[i], option, option_argument(o, 0)));
    if (r->parts && protected_labels && !r->protected_label.count)
        return cli_fail(SOTTO_EUSAGE,
                        "defend: --%s needs a protected label for its rows; give it as %s:SECRET", option,
                        r->path[0]);
    if (r->parts && in->rows.d != r->d)
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s has %zu", r->path[0], r->d, in->rows.path[0],
                        in->rows.d);
    return SOTTO_OK;
}

sotto_status defend_inputs_load(struct defend_inputs *in, const struct options *o)
{
    bool judged = option_given(o, "attacker");
    TRY_OR_RETURN(load_rows(&in->rows, in, o, "input", judged));
    TRY_OR_RETURN(load_labels(&in->rows, in, o, "labels"));
    TRY_OR_RETURN(load_rows(&in->known, in, o, "known", true));
    TRY_OR_RETURN(load_labels(&in->known, in, o, "known-labels"));
    return load_rows(&in->attacker, in, o, "attacker", true);
}

static void rows_clear(struct defend_rows *r)
{
    sotto_array_clear(&r->x);
    sotto_array_clear(&r->protected_label);
    sotto_array_clear(&r->label);
}

void defend_inputs_clear(struct defend_inputs *in)
{
    rows_clear(&in->rows);
    rows_clear(&in->known);
    rows_clear(&in->attacker);
}

struct sotto_defence_known defend_known(const struct defend_rows *r)
{
    return (struct sotto_defence_known){r->x.data, r->protected_label.data, r->label.data, r->n, r->d};
}

/* PATH.defence.json, or FOLDER/defence.json. */
static sotto_status save_record(const char *output, const struct sotto_defence_record *record, bool folder)
{
    char path[2 * DEFEND_PATH];
    if ((size_t)snprintf(path, sizeof path, folder ? "%s/defence.json" : "%s.defence.json", output) >=
        sizeof path)
        return cli_fail(SOTTO_EUSAGE, "defend: the path of --output is too long");
    return sotto_defence_save_record(path, record);
}

/* Defended rows are the same records, which the defender's rows shaped. */
static sotto_status save_whose(const struct defend_inputs *in, size_t part, const char *path)
{
    struct sotto_provenance whose = {0};
    sotto_status status = sotto_provenance_load(&whose, in->rows.path[part]);
    for (size_t i = 0; status == SOTTO_OK && i < in->known.parts; i++)
        status = shape_by_rows(&whose, "defence", in->known.path[i]);
    if (status == SOTTO_OK)
        status = sotto_provenance_save(path, &whose);
    sotto_provenance_clear(&whose);
    return status;
}

static sotto_status save_part(const struct sotto_array *after, size_t first, size_t n, const char *path)
{
    struct sotto_array part = {.dtype = SOTTO_F4, .ndim = 2, .shape = {n, after->shape[1]}};
    part.count = n * after->shape[1];
    part.data = (float *)after->data + first * after->shape[1];
    return sotto_npy_save(path, &part);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static sotto_status check_names(const struct defend_rows *r)
{
    for (size_t i = 0; i < r->parts; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(base_name(r->path[i]), base_name(r->path[j])) == 0)
                return cli_fail(SOTTO_EUSAGE,
                                "defend: two inputs are called %s, so their outputs would overwrite each "
                                "other; rename one",
                                base_name(r->path[i]));
    return SOTTO_OK;
}

sotto_status defend_outputs_save(const struct defend_inputs *in, const struct sotto_array *after,
                                 const struct sotto_defence_record *record, const struct options *o)
{
    const char *output = option_text(o, "output");
    const struct defend_rows *r = &in->rows;
    char path[2 * DEFEND_PATH];
    if (r->parts == 1) {
        TRY_OR_RETURN(sotto_npy_save(output, after));
        TRY_OR_RETURN(save_whose(in, 0, output));
        return save_record(output, record, false);
    }
    TRY_OR_RETURN(check_names(r));
    if (mkdir(output, 0700) != 0 && errno != EEXIST)
        return cli_fail(SOTTO_ECREATE, "%s: cannot be created: %s", output, strerror(errno));
    for (size_t i = 0, first = 0; i < r->parts; first += r->part[i++]) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", output, base_name(r->path[i])) >= sizeof path)
            return cli_fail(SOTTO_EUSAGE, "defend: the path of --output is too long");
        TRY_OR_RETURN(save_part(after, first, r->part[i], path));
        TRY_OR_RETURN(save_whose(in, i, path));
    }
    return save_record(output, record, true);
}

sotto_status defend_measure(struct sotto_defence_result *out, const struct defend_inputs *in,
                            const struct sotto_defence *d, const struct sotto_array *after,
                            const struct options *o, const struct sotto_context *ctx)
{
    struct sotto_array own = {0};
    const struct defend_rows *a = &in->attacker;
    struct sotto_defence_known attacker = defend_known(a);
    struct sotto_defence_trial trial = {
        .rows = defend_known(&in->rows), .after = after->data, .attacker = &attacker};
    trial.posteriors = sotto_defence_of_posteriors(option_argument(o, 0)) == 1;
    trial.seed = option_count(o, "seed");
    sotto_status status = SOTTO_OK;
    if (option_flag(o, "adaptive")) {
        TRY(sotto_array_make(&own, SOTTO_F4, 2, a->x.shape));
        TRY(sotto_defence_apply(own.data, NULL, d, a->x.data, a->n, a->d, ctx));
        trial.attacker_after = own.data;
    }
    TRY(sotto_defence_measure(out, &trial, ctx));
done:
    sotto_array_clear(&own);
    return status;
}
