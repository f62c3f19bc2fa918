#include "attack/query/query_decision.h"

#include <stdlib.h>

#include "audit/audit_document.h"
#include "num/beta.h"

static struct json *share(size_t k, size_t n, double confidence)
{
    if (n == 0)
        return json_make_null();
    struct sotto_estimate e = {.estimate = (double)k / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)k, (double)n, confidence);
    struct json *j = audit_estimate(e);
    json_put_integer(&j, "n", (int64_t)n);
    return j;
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, rising);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

struct tally {
    size_t right, flagged, members; /* right: members that were flagged */
};

static void put_medians(struct json **out, const struct tally *by_class, double *work, size_t classes)
{
    size_t with = 0;
    for (size_t k = 0; k < classes; k++)
        if (by_class[k].flagged)
            work[with++] = (double)by_class[k].right / (double)by_class[k].flagged;
    json_put(out, "precision_class_median", with ? json_make_real(median(work, with)) : json_make_null());
    json_put_integer(out, "classes_flagged", (int64_t)with);
    with = 0;
    for (size_t k = 0; k < classes; k++)
        if (by_class[k].members)
            work[with++] = (double)by_class[k].right / (double)by_class[k].members;
    json_put(out, "recall_class_median", with ? json_make_real(median(work, with)) : json_make_null());
}

sotto_status query_decision(struct json **out, const double *scores, const int64_t *labels, size_t n_member,
                            size_t n, size_t classes, double threshold, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct tally *by_class = base_alloc(classes, sizeof *by_class), all = {0, 0, n_member};
    double *work = base_alloc(classes, sizeof *work);
    if (!by_class || !work)
        FAIL(SOTTO_ENOMEM, "attack: out of memory for %zu classes", classes);
    for (size_t i = 0; i < n; i++) {
        struct tally *t = &by_class[labels[i]];
        bool flagged = scores[i] > threshold, member = i < n_member;
        t->members += member;
        t->flagged += flagged;
        t->right += flagged && member;
        all.flagged += flagged;
        all.right += flagged && member;
    }
    size_t n_nonmember = n - n_member, kept = n_nonmember - (all.flagged - all.right);
    struct json *j = json_make_object();
    json_put_real(&j, "threshold", threshold);
    json_put(&j, "precision", share(all.right, all.flagged, confidence));
    json_put(&j, "recall", share(all.right, n_member, confidence));
    json_put(&j, "false_positive_rate", share(all.flagged - all.right, n_nonmember, confidence));
    json_put_real(&j, "balanced_accuracy",
                  ((double)all.right / (double)n_member + (double)kept / (double)n_nonmember) / 2);
    json_put_real(&j, "prior", (double)n_member / (double)n);
    put_medians(&j, by_class, work, classes);
    *out = j;
done:
    base_free(by_class);
    base_free(work);
    return status;
}
