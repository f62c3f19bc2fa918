/* The training set of a target that is to be attacked with --poison: the members, its other records (--other-features), and of
 * every record to judge copies with a wrong label. */
#include "inputs/labelled_rows.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct training_set {
    struct sotto_array x, y;
    size_t n, classes; /* n: rows so far */
};

/* row: of the first record, for its wrong label; SIZE_MAX: the right labels. */
static void attack_poison_append(struct training_set *s, const struct labelled_rows *r, size_t row)
{
    const int64_t *label = r->y.data;
    if (r->x.count == 0)
        return;
    const size_t rows = r->x.shape[0], bytes = s->x.shape[1] * sizeof(float);
    memcpy((char *)s->x.data + s->n * bytes, r->x.data, rows * bytes);
    for (size_t i = 0; i < rows; i++)
        ((int64_t *)s->y.data)[s->n + i] =
            row == SIZE_MAX ? label[i] : sotto_poison_label(label[i], row + i, s->classes);
    s->n += rows;
}

static sotto_status attack_poison_save(const char *folder, const char *name, const struct sotto_array *a)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return cli_fail(SOTTO_ECREATE, "%s: the path is too long", folder);
    return sotto_npy_save(path, a);
}

static sotto_status save_both(const char *folder, const struct training_set *s)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return cli_fail(SOTTO_ECREATE, "%s: cannot be created", folder);
    TRY_OR_RETURN(attack_poison_save(folder, "features.npy", &s->x));
    return attack_poison_save(folder, "labels.npy", &s->y);
}

static sotto_status attack_poison_fill(struct training_set *s, const struct labelled_rows *member,
                                       const struct labelled_rows *nonmember,
                                       const struct labelled_rows *rest, size_t copies)
{
    const size_t m = member->x.shape[0], others = rest->x.count ? rest->x.shape[0] : 0,
                 n = m + others + copies * (m + nonmember->x.shape[0]), shape[2] = {n, member->x.shape[1]};
    TRY_OR_RETURN(sotto_array_make(&s->x, SOTTO_F4, 2, shape));
    TRY_OR_RETURN(sotto_array_make(&s->y, SOTTO_I8, 1, &n));
    attack_poison_append(s, member, SIZE_MAX);
    attack_poison_append(s, rest, SIZE_MAX);
    for (size_t c = 0; c < copies; c++) {
        attack_poison_append(s, member, 0);
        attack_poison_append(s, nonmember, m);
    }
    return SOTTO_OK;
}

static sotto_status attack_poison(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx, (void)json;
    struct labelled_rows member = {0}, nonmember = {0}, rest = {0};
    struct training_set set = {.classes = option_count(o, "classes")};
    const size_t copies = option_count(o, "poison");
    const char *folder = option_text(o, "output");
    if (copies == 0 || set.classes < 2 || !folder)
        return cli_fail(SOTTO_EUSAGE,
                        "attack: poison needs --poison COPIES, --classes K and --output FOLDER");
    sotto_status status = SOTTO_OK;
    TRY(option_check_report(o));
    TRY(labelled_rows_load(&member, o, "member", 0, set.classes));
    const size_t d = member.x.shape[1];
    TRY(labelled_rows_load(&nonmember, o, "nonmember", d, set.classes));
    if (option_given(o, "other-features") || option_given(o, "other-labels"))
        TRY(labelled_rows_load(&rest, o, "other", d, set.classes));
    TRY(attack_poison_fill(&set, &member, &nonmember, &rest, copies));
    TRY(save_both(folder, &set));
    printf("%s: features.npy and labels.npy of %zu records, %zu of them wrong copies; train the target "
           "on these\n",
           folder, set.n, copies * (member.x.shape[0] + nonmember.x.shape[0]));
done:
    sotto_array_clear(&set.x), sotto_array_clear(&set.y);
    labelled_rows_clear(&member), labelled_rows_clear(&nonmember), labelled_rows_clear(&rest);
    return status;
}

static const struct subcommand subcommands[] = {
    {"poison", "", "write the training set of a target that an attacker has poisoned",
     "poison|classes|member-features|member-labels|nonmember-features|nonmember-labels|other-features|other-"
     "labels|"
     "output"},
    {NULL}};

const struct verb_part verb_part_attack_poison = {
    .verb = "attack",
    .when = "poison",
    .examples =
        "  sotto attack poison --poison 4 --classes 10 --member-features xm.npy --member-labels ym.npy "
        "--nonmember-features xn.npy "
        "--nonmember-labels yn.npy -o poisoned",
    .subcommands = subcommands,
    .run = attack_poison};
