#include "inputs/audit_inputs.h"

#include "inputs/head_inputs.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

sotto_status audit_inputs_open(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, const char *what, int dimensions,
                               const char *shape)
{
    const char *path = option_text(o, option);
    if (!path)
        return SOTTO_OK;
    struct sotto_array *a = &in->arrays[in->file_count];
    sotto_status status = sotto_array_load(a, path, 0, cli_context());
    if (status != SOTTO_OK)
        return status;
    in->files[in->file_count++] = (struct sotto_report_input){role, path};
    if (dimensions == 1 && a->ndim == 2 && a->shape[1] == 1)
        a->ndim = 1;
    if (a->ndim != dimensions)
        return cli_fail(SOTTO_EINVAL, "%s: has %d dimensions; %s need %s", path, a->ndim, what, shape);
    *out = a;
    return SOTTO_OK;
}

sotto_status audit_inputs_read(struct sotto_array **out, struct audit_inputs *in, const struct options *o,
                               const char *option, const char *role, const char *what, int dimensions,
                               const char *shape)
{
    struct sotto_array *a = NULL;
    sotto_status status = audit_inputs_open(&a, in, o, option, role, what, dimensions, shape);
    if (a)
        *out = a;
    return status == SOTTO_OK && a ? sotto_array_require_finite(a, option_text(o, option), what) : status;
}

sotto_status audit_inputs_count_labels(struct sotto_array *y, const char *option, const struct options *o)
{
    int64_t first;
    sotto_status status = option_labels_from(&first, o);
    return status == SOTTO_OK ? head_labels_count(y, option_text(o, option), first) : status;
}

/* The same, converted. */
static sotto_status audit_inputs_load_as(struct sotto_array **out, struct audit_inputs *in,
                                         const struct options *o, const char *option, const char *role,
                                         const char *what, int dimensions, enum sotto_dtype dtype)
{
    sotto_status status = audit_inputs_read(out, in, o, option, role, what, dimensions,
                                            dimensions == 2 ? "2 (records, classes)" : "1 (records)");
    if (status != SOTTO_OK || !*out)
        return status;
    status = sotto_array_require_exact(*out, dtype, option_text(o, option));
    if (status != SOTTO_OK)
        return status;
    status = sotto_array_convert(*out, dtype);
    if (status == SOTTO_EINVAL)
        return cli_fail(SOTTO_EINVAL, "%s: contains fractions; %s must be whole numbers",
                        option_text(o, option), what);
    return status == SOTTO_OK && dtype == SOTTO_I8 ? audit_inputs_count_labels(*out, option, o) : status;
}

struct pair {
    struct sotto_array *member, *nonmember;
    const char *member_path, *nonmember_path;
};

static sotto_status load_pair(struct pair *p, struct audit_inputs *in, const struct options *o,
                              const char *const names[2], const char *const roles[2], const char *what,
                              int dimensions, enum sotto_dtype dtype)
{
    p->member_path = option_text(o, names[0]);
    p->nonmember_path = option_text(o, names[1]);
    if (!p->member_path != !p->nonmember_path)
        return cli_fail(SOTTO_EUSAGE, "audit: --%s is missing; --%s needs it", names[p->member_path ? 1 : 0],
                        names[p->member_path ? 0 : 1]);
    sotto_status status =
        audit_inputs_load_as(&p->member, in, o, names[0], roles[0], what, dimensions, dtype);
    if (status == SOTTO_OK)
        status = audit_inputs_load_as(&p->nonmember, in, o, names[1], roles[1], what, dimensions, dtype);
    return status;
}

static sotto_status same_rows(const struct sotto_array *a, const char *path, const struct sotto_array *b,
                              const char *of, const char *what)
{
    if (a->shape[0] == b->shape[0])
        return SOTTO_OK;
    return cli_fail(SOTTO_EINVAL, "%s has %zu %s but %s has %zu rows; expected one per record", path,
                    a->shape[0], what, of, b->shape[0]);
}

static sotto_status check_labels(const struct sotto_array *y, const char *path, size_t classes,
                                 const struct options *o)
{
    const int64_t *label = y->data;
    sotto_status status = labels_check_first(label, y->count, classes, path, o);
    if (status != SOTTO_OK)
        return status;
    for (size_t i = 0; i < y->count; i++)
        if (label[i] < 0 || (uint64_t)label[i] >= classes)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu has label %lld; the outputs have classes 0 to %zu",
                            path, i, (long long)label[i], classes - 1);
    return SOTTO_OK;
}

/* A row that does not sum to 1 is reported with its file; the library would only know "members". */
/* Two decimals are the coarsest that pass here, with the file's name; the audit finds the step and is stricter. */
static sotto_status check_probabilities(const struct sotto_array *p, const char *path)
{
    const double *x = p->data, slack = 0.001 + 0.005 * (double)p->shape[1];
    for (size_t i = 0; i < p->shape[0]; i++) {
        double sum = 0;
        int negative = 0;
        for (size_t k = 0; k < p->shape[1]; k++) {
            sum += x[i * p->shape[1] + k];
            negative |= x[i * p->shape[1] + k] < 0;
        }
        if (negative || fabs(sum - 1) > slack)
            return cli_fail(SOTTO_EINVAL,
                            "%s: row %zu %s %g; probabilities must be >= 0 and sum to 1 within 0.001, or "
                            "their rounding (are these "
                            "logits?)",
                            path, i, negative ? "has negative values and sums to" : "sums to", sum);
    }
    return SOTTO_OK;
}

static sotto_status load_outputs(struct audit_inputs *in, const struct options *o)
{
    static const char *const logits[] = {"member-logits", "nonmember-logits"},
                             *const probabilities[] = {"member-probabilities", "nonmember-probabilities"},
                             *const labels[] = {"member-labels", "nonmember-labels"};
    static const char *const logits_roles[] = {"member logits", "non-member logits"},
                             *const probabilities_roles[] = {"member probabilities",
                                                             "non-member probabilities"},
                             *const labels_roles[] = {"member labels", "non-member labels"};
    struct pair x = {0}, y = {0};
    int raw = option_given(o, logits[0]) || option_given(o, logits[1]);
    int soft = option_given(o, probabilities[0]) || option_given(o, probabilities[1]);
    if (raw && soft)
        return cli_fail(SOTTO_EUSAGE, "audit: give either logits or probabilities, not both");
    sotto_status status =
        load_pair(&x, in, o, soft ? probabilities : logits, soft ? probabilities_roles : logits_roles,
                  soft ? "probabilities" : "logits", 2, SOTTO_F8);
    if (status == SOTTO_OK)
        status = load_pair(&y, in, o, labels, labels_roles, "labels", 1, SOTTO_I8);
    if (status != SOTTO_OK)
        return status;
    if (!x.member)
        return y.member ? cli_fail(SOTTO_EUSAGE,
                                   "audit: --member-labels needs --member-logits or --member-probabilities")
                        : SOTTO_OK;
    if (x.member->shape[1] != x.nonmember->shape[1])
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu classes but %s has %zu; both need the same second dimension",
                        x.member_path, x.member->shape[1], x.nonmember_path, x.nonmember->shape[1]);
    in->input.member_f8 = x.member->data, in->input.nonmember_f8 = x.nonmember->data;
    in->input.n_member = x.member->shape[0], in->input.n_nonmember = x.nonmember->shape[0];
    in->input.classes = x.member->shape[1];
    in->input.probabilities = soft;
    if (soft && (status = check_probabilities(x.member, x.member_path)) == SOTTO_OK)
        status = check_probabilities(x.nonmember, x.nonmember_path);
    if (status != SOTTO_OK || !y.member)
        return status;
    if ((status = same_rows(y.member, y.member_path, x.member, x.member_path, "labels")) != SOTTO_OK ||
        (status = same_rows(y.nonmember, y.nonmember_path, x.nonmember, x.nonmember_path, "labels")) !=
            SOTTO_OK ||
        (status = check_labels(y.member, y.member_path, in->input.classes, o)) != SOTTO_OK ||
        (status = check_labels(y.nonmember, y.nonmember_path, in->input.classes, o)) != SOTTO_OK)
        return status;
    in->input.member_labels = y.member->data, in->input.nonmember_labels = y.nonmember->data;
    return SOTTO_OK;
}

static sotto_status load_losses(struct audit_inputs *in, const struct options *o)
{
    static const char *const names[] = {"member-losses", "nonmember-losses"}, *const roles[] = {
                                                                                  "member losses",
                                                                                  "non-member losses"};
    struct pair x = {0};
    sotto_status status = load_pair(&x, in, o, names, roles, "losses", 1, SOTTO_F8);
    if (status != SOTTO_OK || !x.member)
        return status;
    if (in->input.member_f8)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: losses and logits (or probabilities) were given; give only one of them");
    in->input.member_losses = x.member->data, in->input.nonmember_losses = x.nonmember->data;
    in->input.n_member = x.member->shape[0], in->input.n_nonmember = x.nonmember->shape[0];
    return SOTTO_OK;
}

static sotto_status load_scores(struct audit_inputs *in, const struct options *o)
{
    static const char *const names[] = {"scores", "membership"}, *const roles[] = {"scores", "membership"};
    struct pair x = {0};
    if (option_given(o, "coin-file"))
        return audit_inputs_load_coins(in, o);
    if (option_given(o, "token-logprobs"))
        return audit_inputs_load_tokens(in, o);
    if (!option_given(o, names[0]) && !option_given(o, names[1]))
        return SOTTO_OK;
    if (!option_given(o, names[0]) || !option_given(o, names[1]))
        return cli_fail(SOTTO_EUSAGE, "audit: --scores and --membership must be given together");
    if (in->input.member_f8 || in->input.member_losses)
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --scores cannot be combined with other arrays; give only one of them");
    sotto_status status = audit_inputs_load_as(&x.member, in, o, names[0], roles[0], "scores", 1, SOTTO_F8);
    if (status == SOTTO_OK)
        status =
            audit_inputs_load_as(&x.nonmember, in, o, names[1], roles[1], "membership values", 1, SOTTO_I8);
    if (status == SOTTO_OK)
        status =
            same_rows(x.nonmember, option_text(o, names[1]), x.member, option_text(o, names[0]), "values");
    if (status != SOTTO_OK)
        return status;
    const double *score = x.member->data;
    const int64_t *is_member = x.nonmember->data;
    size_t n = x.member->count, members = 0, placed[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (is_member[i] != 0 && is_member[i] != 1)
            return cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; expected 1 for members and 0 for others",
                            option_text(o, names[1]), i, (long long)is_member[i]);
        members += (size_t)is_member[i];
    }
    in->scores = calloc(n ? n : 1, sizeof *in->scores);
    if (!in->scores)
        return cli_fail(SOTTO_ENOMEM, "audit: out of memory for %zu scores", n);
    placed[0] = members;
    for (size_t i = 0; i < n; i++)
        in->scores[placed[is_member[i] == 0 ? 0 : 1]++] = score[i];
    in->input.member_scores = in->scores, in->input.nonmember_scores = in->scores + members;
    in->input.n_member = members, in->input.n_nonmember = n - members;
    return SOTTO_OK;
}

/* (records, models), as many records as the target's arrays. */
static sotto_status check_models(const struct audit_inputs *in, const struct pair *p, const char *what)
{
    const struct sotto_array *sides[] = {p->member, p->nonmember};
    const char *paths[] = {p->member_path, p->nonmember_path};
    size_t rows[] = {in->input.n_member, in->input.n_nonmember};
    for (int i = 0; i < 2; i++) {
        if (sides[i]->shape[0] != rows[i])
            return cli_fail(
                SOTTO_EINVAL,
                sides[i]->shape[1] == rows[i]
                    ? "%s has %zu rows of as many numbers as the target has records (%zu): it looks like "
                      "(models, n); expected (n, models), so transpose it"
                    : "%s has %zu rows but the target's arrays have %zu; expected one row per record",
                paths[i], sides[i]->shape[0], rows[i]);
        if (sides[i]->shape[1] != in->input.reference_models)
            return cli_fail(
                SOTTO_EINVAL,
                "%s: %s has %zu models but the reference signals have %zu; expected the same number",
                paths[i], what, sides[i]->shape[1], in->input.reference_models);
    }
    return SOTTO_OK;
}

/* Matrices of members and of non-members; what a file does not hold in the wanted form stays NULL, to be loaded, which says
 * what is wrong with it. */
static sotto_status open_rows(struct sotto_rows *out[2], const struct audit_inputs *in,
                              const struct options *o, const char *const names[2], bool mask)
{
    const size_t n[2] = {in->input.n_member, in->input.n_nonmember};
    sotto_status status = SOTTO_OK;
    for (int i = 0; status == SOTTO_OK && i < 2; i++) {
        size_t rows, columns;
        enum sotto_dtype dtype;
        if (!option_text(o, names[i]) ||
            (status = sotto_rows_open(&out[i], option_text(o, names[i]))) != SOTTO_OK || !out[i])
            continue;
        sotto_rows_shape(&rows, &columns, &dtype, out[i]);
        if (rows == n[i] && mask == (dtype == SOTTO_U1 || dtype == SOTTO_B1))
            continue;
        sotto_rows_close(out[i]);
        out[i] = NULL;
    }
    return status;
}

/* Both matrices of signals, and of masks, in files that can be read by rows: then they stay there. */
static sotto_status stream_references(bool *done, struct audit_inputs *in, const struct options *o,
                                      const char *const signals[2], const char *const masks[2],
                                      const char *const signals_roles[2], const char *const masks_roles[2])
{
    struct sotto_rows **x = in->rows, **mask = in->rows + 2;
    const bool masked = option_given(o, masks[0]) && option_given(o, masks[1]);
    size_t rows;
    enum sotto_dtype dtype;
    *done = false;
    if (option_given(o, "member-views") || option_given(o, masks[0]) != option_given(o, masks[1]))
        return SOTTO_OK;
    sotto_status status = open_rows(x, in, o, signals, false);
    if (status == SOTTO_OK)
        status = open_rows(mask, in, o, masks, true);
    if (status != SOTTO_OK || !x[0] || !x[1] || (masked && (!mask[0] || !mask[1])))
        return status;
    for (int i = 0; i < 2; i++)
        in->files[in->file_count++] =
            (struct sotto_report_input){signals_roles[i], option_text(o, signals[i])};
    for (int i = 0; masked && i < 2; i++)
        in->files[in->file_count++] = (struct sotto_report_input){masks_roles[i], option_text(o, masks[i])};
    sotto_rows_shape(&rows, &in->input.reference_models, &dtype, x[0]);
    in->input.member_reference_rows = x[0], in->input.nonmember_reference_rows = x[1];
    in->input.member_trained_rows = mask[0], in->input.nonmember_trained_rows = mask[1];
    *done = true;
    return SOTTO_OK;
}

static sotto_status load_references(struct audit_inputs *in, const struct options *o)
{
    static const char *const signals[] = {"member-reference", "nonmember-reference"},
                             *const losses[] = {"member-reference-losses", "nonmember-reference-losses"},
                             *const masks[] = {"member-trained", "nonmember-trained"};
    static const char *const signals_roles[] = {"member reference signals", "non-member reference signals"},
                             *const masks_roles[] = {"member training mask", "non-member training mask"};
    struct pair x = {0}, mask = {0};
    int of_losses = option_given(o, losses[0]) || option_given(o, losses[1]);
    if (of_losses && (option_given(o, signals[0]) || option_given(o, signals[1])))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: give either the reference models' signals or their losses, not both");
    bool streamed;
    in->input.reference_losses = of_losses;
    sotto_status status =
        stream_references(&streamed, in, o, of_losses ? losses : signals, masks, signals_roles, masks_roles);
    if (status != SOTTO_OK || streamed)
        return status;
    status =
        load_pair(&x, in, o, of_losses ? losses : signals, signals_roles, "reference signals", 2, SOTTO_F8);
    if (status == SOTTO_OK)
        status = load_pair(&mask, in, o, masks, masks_roles, "training masks", 2, SOTTO_U1);
    if (status != SOTTO_OK)
        return status;
    if (!x.member)
        return mask.member ? cli_fail(SOTTO_EUSAGE, "audit: --member-trained needs --member-reference")
                           : SOTTO_OK;
    in->input.reference_models = x.member->shape[1];
    if ((status = check_models(in, &x, "signals")) != SOTTO_OK)
        return status;
    in->input.member_reference = x.member->data, in->input.nonmember_reference = x.nonmember->data;
    if (!mask.member)
        return SOTTO_OK;
    if ((status = check_models(in, &mask, "masks")) != SOTTO_OK)
        return status;
    in->input.member_trained = mask.member->data, in->input.nonmember_trained = mask.nonmember->data;
    return SOTTO_OK;
}

static sotto_status load_shadow(struct audit_inputs *in, const struct options *o)
{
    const char *outputs = in->input.probabilities ? "shadow-probabilities" : "shadow-logits";
    const char *other = in->input.probabilities ? "shadow-logits" : "shadow-probabilities";
    struct sotto_array *x = NULL, *y = NULL, *trained = NULL;
    if (!option_given(o, "shadow-logits") && !option_given(o, "shadow-probabilities") &&
        !option_given(o, "shadow-labels") && !option_given(o, "shadow-trained"))
        return SOTTO_OK;
    if (option_given(o, other))
        return cli_fail(SOTTO_EUSAGE, "audit: --%s cannot be combined with the target's arrays; give --%s",
                        other, outputs);
    if (!option_given(o, outputs) || !option_given(o, "shadow-labels") || !option_given(o, "shadow-trained"))
        return cli_fail(SOTTO_EUSAGE,
                        "audit: --%s, --shadow-labels and --shadow-trained must be given together", outputs);
    sotto_status status = audit_inputs_load_as(&x, in, o, outputs, "shadow outputs", "outputs", 2, SOTTO_F8);
    if (status == SOTTO_OK)
        status = audit_inputs_load_as(&y, in, o, "shadow-labels", "shadow labels", "labels", 1, SOTTO_I8);
    if (status == SOTTO_OK)
        status = audit_inputs_load_as(&trained, in, o, "shadow-trained", "shadow membership",
                                      "membership values", 1, SOTTO_U1);
    if (status == SOTTO_OK)
        status = same_rows(y, option_text(o, "shadow-labels"), x, option_text(o, outputs), "labels");
    if (status == SOTTO_OK)
        status = same_rows(trained, option_text(o, "shadow-trained"), x, option_text(o, outputs), "values");
    if (status != SOTTO_OK)
        return status;
    if (x->shape[1] != in->input.classes)
        return cli_fail(SOTTO_EINVAL, "%s has %zu classes but the target's arrays have %zu",
                        option_text(o, outputs), x->shape[1], in->input.classes);
    in->input.shadow = x->data, in->input.shadow_labels = y->data, in->input.shadow_trained = trained->data;
    in->input.n_shadow = x->shape[0];
    return SOTTO_OK;
}

sotto_status audit_inputs_load(struct audit_inputs *in, const struct options *o)
{
    sotto_status status = load_outputs(in, o);
    if (status == SOTTO_OK)
        status = load_losses(in, o);
    if (status == SOTTO_OK)
        status = load_scores(in, o);
    if (status == SOTTO_OK)
        status = load_references(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_references(in, o);
    if (status == SOTTO_OK)
        status = load_shadow(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_population(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_views(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_features(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_dates(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_generative(in, o);
    if (status == SOTTO_OK)
        status = audit_inputs_load_attribute(in, o);
    if (status == SOTTO_OK && in->file_count == 0)
        status = cli_fail(SOTTO_EUSAGE, "audit: nothing to audit; see 'sotto audit --help'");
    return status;
}

void audit_inputs_clear(struct audit_inputs *in)
{
    for (size_t i = 0; i < sizeof in->arrays / sizeof *in->arrays; i++)
        sotto_array_clear(&in->arrays[i]);
    for (size_t i = 0; i < sizeof in->rows / sizeof *in->rows; i++)
        sotto_rows_close(in->rows[i]);
    free(in->scores);
    *in = (struct audit_inputs){0};
}
