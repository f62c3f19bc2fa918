#include "options/class_list.h"
#include "inputs/head_inputs.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const struct option_row head_data_rows[] = {
    OPTION_GROUP("Records"),
    {"features", OPTION_TEXT, "X.npy", NULL,
     "embeddings (N, D), numbers: .npy, .npz[:NAME], .csv, or - for standard input"},
    {"labels", OPTION_TEXT, "y.npy", NULL, "class of each record (N), whole numbers"},
    OPTION_LABELS_FROM_ROW,
    {"indices", OPTION_TEXT, "rows.npy", NULL, "rows of features and labels to use, whole numbers from 0"},
    {"classes", OPTION_TEXT, "K|FILE", NULL,
     "public number of classes, or a file with one class name a line; private and convex trainers need it "
     "here or in the data set's description (default of other trainers: largest label + 1)"},
    OPTION_END};

/* silent: nothing is said of what the records are. */
static sotto_status take_features(struct sotto_array *x, const char *path, int silent)
{
    if (x->ndim != 2)
        return cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; expected 2 (records, columns)", path, x->ndim);
    if (x->shape[0] == 0 || x->shape[1] == 0)
        return cli_fail(SOTTO_EINVAL, "%s: has shape (%zu, %zu); expected at least one record and one column",
                        path, x->shape[0], x->shape[1]);
    if (!silent)
        TRY_OR_RETURN(sotto_array_require_exact(x, SOTTO_F4, path));
    return sotto_array_convert(x, SOTTO_F4);
}

sotto_status head_features_take(struct sotto_array *x, const char *path)
{
    TRY_OR_RETURN(take_features(x, path, 0));
    return sotto_array_require_finite(x, path, "features");
}

sotto_status head_features_load(struct sotto_array *x, const char *path)
{
    TRY_OR_RETURN(sotto_array_load(x, path, 0, cli_context()));
    return head_features_take(x, path);
}

static sotto_status load_features_in_silence(struct sotto_array *x, const char *path)
{
    TRY_OR_RETURN(sotto_array_load(x, path, 1, cli_context()));
    return take_features(x, path, 1);
}

static sotto_status take_column(struct sotto_array *a, const char *path, const char *what)
{
    if (a->ndim == 2 && a->shape[1] == 1)
        a->ndim = 1;
    return a->ndim == 1 ? SOTTO_OK
                        : cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; expected 1 (%s), or (n, 1)", path,
                                   a->ndim, what);
}

/* What is no whole number from `first` is no class: -1, and nothing is said. The type of an array is public, so floats are refused:
 * where labels are 0.5, a full epsilon would buy a model of nothing. Of a table every cell is read as a double. */
static sotto_status load_labels_in_silence(struct sotto_array *a, const char *path, int64_t first)
{
    struct sotto_array labels = {0};
    TRY_OR_RETURN(sotto_array_load(a, path, 1, cli_context()));
    const bool may_be_a_table = a->dtype == SOTTO_F8 && a->ndim == 2;
    if (!may_be_a_table && (a->dtype == SOTTO_F2 || a->dtype == SOTTO_F4 || a->dtype == SOTTO_F8))
        return cli_fail(
            SOTTO_EINVAL,
            "%s: labels have type %s; expected whole numbers, such as i8: write the file with .astype(int)",
            path, sotto_dtype_name(a->dtype));
    TRY_OR_RETURN(take_column(a, path, "labels"));
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_make(&labels, SOTTO_I8, 1, a->shape));
    TRY(sotto_array_convert(a, SOTTO_F8));
    for (size_t i = 0; i < a->count; i++) {
        const double y = ((const double *)a->data)[i] - (double)first;
        ((int64_t *)labels.data)[i] = y >= 0 && y < 0x1p53 && y == floor(y) ? (int64_t)y : -1;
    }
    sotto_array_clear(a);
    *a = labels;
    labels = (struct sotto_array){0};
done:
    sotto_array_clear(&labels);
    return status;
}

static sotto_status load_whole_numbers(struct sotto_array *a, const char *path, const char *what)
{
    TRY_OR_RETURN(sotto_array_load(a, path, 0, cli_context()));
    TRY_OR_RETURN(take_column(a, path, what));
    if (sotto_array_convert(a, SOTTO_I8) != SOTTO_OK)
        return cli_fail(SOTTO_EINVAL, "%s: contains fractions; %s must be whole numbers", path, what);
    return SOTTO_OK;
}

sotto_status head_labels_load(struct sotto_array *y, const char *path, int64_t first)
{
    TRY_OR_RETURN(load_whole_numbers(y, path, "labels"));
    return head_labels_count(y, path, first);
}

sotto_status head_labels_count(struct sotto_array *y, const char *path, int64_t first)
{
    for (size_t i = 0; i < y->count; i++) {
        int64_t *label = (int64_t *)y->data + i;
        if (first && *label < first)
            return cli_fail(SOTTO_EINVAL,
                            "%s: row %zu has label %lld; --labels-from %lld allows %lld and above", path, i,
                            (long long)*label, (long long)first, (long long)first);
        *label -= first;
    }
    return SOTTO_OK;
}

sotto_status option_labels_from(int64_t *first, const struct options *o)
{
    *first = (int64_t)option_count(o, "labels-from");
    return *first == 0 || *first == 1
               ? SOTTO_OK
               : cli_fail(SOTTO_EUSAGE, "--labels-from: '%s' is out of range; expected 0 or 1",
                          option_text(o, "labels-from"));
}

sotto_status labels_check_first(const int64_t *y, size_t n, size_t classes, const char *path,
                                const struct options *o)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        least = y[i] < least ? y[i] : least;
        most = y[i] > most ? y[i] : most;
    }
    if (option_given(o, "labels-from") || least != 1 || (classes ? most != (int64_t)classes : most < 2))
        return SOTTO_OK;
    return cli_fail(
        SOTTO_EINVAL,
        "%s: labels run from 1 to %lld; expected labels from 0: give --labels-from 1 (or --labels-from 0, if "
        "class 0 has no record here)",
        path, (long long)most);
}

sotto_status labels_majority(struct majority *out, const int64_t *labels, const int64_t *rows, size_t n,
                             size_t classes)
{
    struct sotto_array occurs = {0};
    TRY_OR_RETURN(sotto_array_make(&occurs, SOTTO_I8, 1, &classes));
    int64_t *of = occurs.data;
    for (size_t i = 0; i < n; i++)
        of[labels[rows ? rows[i] : (int64_t)i]]++;
    size_t most = 0;
    for (size_t k = 1; k < classes; k++)
        most = of[k] > of[most] ? k : most;
    *out = (struct majority){most, (double)of[most] / (double)n};
    sotto_array_clear(&occurs);
    return SOTTO_OK;
}

/* Replaces x and y by their rows `indices`, which are left in *rows. */
static sotto_status select_rows(struct head_inputs *in, struct sotto_array *rows, const char *path,
                                const char *features)
{
    struct sotto_array x = {0}, y = {0};
    sotto_status status = SOTTO_OK;
    TRY(load_whole_numbers(rows, path, "row numbers"));
    if (rows->count == 0)
        TRY(cli_fail(SOTTO_EINVAL, "%s: is empty; expected at least one row number", path));
    const int64_t *row = rows->data;
    for (size_t i = 0; i < rows->count; i++)
        if (row[i] < 0 || (uint64_t)row[i] >= in->n)
            TRY(cli_fail(SOTTO_EINVAL, "%s: entry %zu is %lld; %s has rows 0 to %zu", path, i,
                         (long long)row[i], features, in->n - 1));
    TRY(sotto_array_make(&x, SOTTO_F4, 2, (size_t[]){rows->count, in->d}));
    TRY(sotto_array_make(&y, SOTTO_I8, 1, &rows->count));
    for (size_t i = 0; i < rows->count; i++) {
        memcpy((float *)x.data + i * in->d, (const float *)in->x.data + (size_t)row[i] * in->d,
               in->d * sizeof(float));
        ((int64_t *)y.data)[i] = ((const int64_t *)in->y.data)[row[i]];
    }
    sotto_array_clear(&in->x);
    sotto_array_clear(&in->y);
    in->x = x, in->y = y;
    in->n = rows->count;
    x = y = (struct sotto_array){0};
done:
    sotto_array_clear(&x);
    sotto_array_clear(&y);
    return status;
}

/* Whose row each is, of the rows that were chosen. Who is whose is public. */
static sotto_status load_persons(struct head_inputs *in, const struct options *o, size_t all,
                                 const struct sotto_array *rows)
{
    const char *path = option_text(o, "persons");
    struct sotto_array persons = {0};
    sotto_status status = SOTTO_OK;
    if (in->provenance.rows_per_person)
        TRY(cli_fail(SOTTO_EUSAGE,
                     "--persons: the import of these records named their persons (column %s); omit it",
                     in->provenance.person));
    TRY(load_whole_numbers(&in->persons, path, "persons"));
    if (in->persons.count != all)
        TRY(cli_fail(SOTTO_EINVAL, "%s: has %zu rows, but %s has %zu; expected the person of each", path,
                     in->persons.count, option_text(o, "features"), all));
    if (!rows->data)
        goto done;
    TRY(sotto_array_make(&persons, SOTTO_I8, 1, &rows->count));
    for (size_t i = 0; i < rows->count; i++)
        ((int64_t *)persons.data)[i] = ((const int64_t *)in->persons.data)[((const int64_t *)rows->data)[i]];
    sotto_array_clear(&in->persons);
    in->persons = persons;
    persons = (struct sotto_array){0};
done:
    sotto_array_clear(&persons);
    return status;
}

/* Whose records they are, as the side files of both arrays say. */
static sotto_status load_provenance(struct head_inputs *in, const char *features, const char *labels)
{
    TRY_OR_RETURN(sotto_provenance_load_pair(&in->provenance, features, labels));
    if (in->provenance.n > 0 && in->provenance.n != in->n)
        return cli_fail(
            SOTTO_EFORMAT,
            "%s.provenance.json: describes %zu records but %s has %zu rows; expected the same number",
            features, in->provenance.n, features, in->n);
    return SOTTO_OK;
}

static sotto_status count_classes(struct head_inputs *in, const struct options *o)
{
    const int64_t *y = in->y.data;
    int64_t largest = 0;
    struct class_list given;
    sotto_status status = class_list_read(&given, o);
    if (status == SOTTO_OK)
        status = labels_check_first(y, in->n, given.count, option_text(o, "labels"), o);
    in->classes = given.count;
    class_list_clear(&given);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < in->n; i++) {
        if (y[i] < 0)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected a label of at least 0",
                            option_text(o, "labels"), i, (long long)y[i]);
        largest = y[i] > largest ? y[i] : largest;
    }
    in->classes = in->classes ? in->classes : (size_t)largest + 1;
    if (option_given(o, "classes")) {
        if ((uint64_t)largest >= in->classes)
            return cli_fail(SOTTO_EINVAL, "%s: contains class %lld; --classes %zu allows 0 to %zu",
                            option_text(o, "labels"), (long long)largest, in->classes, in->classes - 1);
    }
    if (in->classes > in->n)
        return cli_fail(SOTTO_EINVAL,
                        "%s: %zu classes (largest label + 1, or --classes) but only %zu records; expected at "
                        "least one record per class",
                        option_text(o, "labels"), in->classes, in->n);
    return SOTTO_OK;
}

/* Classes that are public: never read off the labels. */
static sotto_status take_classes(struct head_inputs *in, const struct options *o)
{
    struct sotto_provenance *p = &in->provenance;
    struct class_list given;
    sotto_status status = SOTTO_OK;
    TRY(class_list_read(&given, o));
    if (given.count == 0 && p->classes == 0)
        TRY(cli_fail(SOTTO_EUSAGE,
                     "head: trainer %s needs public classes, which it does not derive from the labels; "
                     "give --classes K, or --classes FILE with one name a line",
                     option_text(o, "trainer")));
    if (given.names && p->class_names)
        class_list_translate(in->y.data, in->n, (const char *const *)p->class_names, p->classes, &given);
    in->classes = given.count ? given.count : p->classes;
    snprintf(in->classes_by, sizeof in->classes_by, "%s", given.count ? "--classes" : p->classes_by);
done:
    class_list_clear(&given);
    return status;
}

/* The provenance of the chosen rows; a silent trainer refuses a row that is named twice. */
static sotto_status select_provenance(struct head_inputs *in, const struct options *o,
                                      const struct sotto_array *rows, int silent)
{
    if (rows->data && silent)
        TRY_OR_RETURN(sotto_rows_once(rows->data, rows->count, option_text(o, "indices")));
    if (rows->data && in->provenance.n > 0)
        TRY_OR_RETURN(sotto_provenance_select(&in->provenance, rows->data, rows->count));
    return silent ? sotto_provenance_once(&in->provenance) : SOTTO_OK;
}

sotto_status head_inputs_load(struct head_inputs *in, const struct options *o, int silent)
{
    const char *features = option_text(o, "features"), *labels = option_text(o, "labels");
    int64_t first = 0;
    TRY_OR_RETURN(option_require(o, "features"));
    TRY_OR_RETURN(option_require(o, "labels"));
    TRY_OR_RETURN(option_labels_from(&first, o));
    TRY_OR_RETURN(silent ? load_features_in_silence(&in->x, features) : head_features_load(&in->x, features));
    TRY_OR_RETURN(silent ? load_labels_in_silence(&in->y, labels, first)
                         : head_labels_load(&in->y, labels, first));
    in->n = in->x.shape[0];
    in->d = in->x.shape[1];
    if (in->y.count != in->n)
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu rows but %s has %zu labels; expected one of each per record", features,
                        in->n, labels, in->y.count);
    struct sotto_array rows = {0};
    const size_t all = in->n;
    TRY_OR_RETURN(load_provenance(in, features, labels));
    sotto_status status = SOTTO_OK;
    if (option_given(o, "indices"))
        TRY(select_rows(in, &rows, option_text(o, "indices"), features));
    TRY(select_provenance(in, o, &rows, silent));
    if (option_given(o, "persons"))
        TRY(load_persons(in, o, all, &rows));
    TRY(silent ? take_classes(in, o) : count_classes(in, o));
done:
    sotto_array_clear(&rows);
    return status;
}

void head_inputs_clear(struct head_inputs *in)
{
    sotto_array_clear(&in->x);
    sotto_array_clear(&in->y);
    sotto_array_clear(&in->persons);
    sotto_provenance_clear(&in->provenance);
}

sotto_status head_recipe_read(struct sotto_head_recipe *r, const struct options *o)
{
    sotto_head_defaults(r);
    if (option_members(r, sotto_option_table("head_recipe"), o) != SOTTO_OK)
        return SOTTO_EUSAGE;
    if (sotto_head_trainer_private(r->trainer) == 2) /* their own default */
        r->lambda = option_given(o, "lambda") ? r->lambda : 0;
    return SOTTO_OK;
}

sotto_status head_recipe_refuse_unused(const struct sotto_head_recipe *r, const struct options *o)
{
    const struct sotto_option *row = sotto_option_table("head_recipe"), *unused = NULL;
    char used[400] = "";
    for (; row->name; row++)
        if (sotto_head_trainer_reads(r->trainer, row->key))
            snprintf(used + strlen(used), sizeof used - strlen(used), "%s--%s", used[0] ? ", " : "",
                     row->name);
        else if (!unused && option_given(o, row->name))
            unused = row;
    return unused ? cli_fail(SOTTO_EUSAGE, "--%s makes no difference to trainer %s; expected %s",
                             unused->name, r->trainer, used)
                  : SOTTO_OK;
}
