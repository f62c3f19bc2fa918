#include "attack/query/query_decision.h"

#include "num/beta.h"

#include <math.h>
#include <stdlib.h>

static void add_share(struct facts *out, const char *name, size_t k, size_t n, double confidence)
{
    double lower, upper;
    if (n == 0) {
        fact_real(out, name, NAN);
        return;
    }
    clopper_pearson(&lower, &upper, (double)k, (double)n, confidence);
    struct facts *share = fact_group(out, name);
    fact_real(share, "estimate", (double)k / (double)n);
    fact_real(share, "lower", lower);
    fact_real(share, "upper", upper);
    fact_count(share, "n", n);
}

static int query_decision_rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double query_decision_median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, query_decision_rising);
    return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

struct tally {
    size_t right, flagged, members; /* right: members that were flagged */
};

static void add_medians(struct facts *out, const struct tally *by_class, double *work, size_t classes)
{
    size_t with = 0;
    for (size_t k = 0; k < classes; k++)
        if (by_class[k].flagged)
            work[with++] = (double)by_class[k].right / (double)by_class[k].flagged;
    fact_real(out, "precision_class_median", with ? query_decision_median(work, with) : NAN);
    fact_count(out, "classes_flagged", with);
    with = 0;
    for (size_t k = 0; k < classes; k++)
        if (by_class[k].members)
            work[with++] = (double)by_class[k].right / (double)by_class[k].members;
    fact_real(out, "recall_class_median", with ? query_decision_median(work, with) : NAN);
}

sotto_status query_decision(struct facts *out, const double *scores, const int64_t *labels, size_t n_member,
                            size_t n, size_t classes, double threshold, double confidence)
{
    sotto_status status = SOTTO_OK;
    struct tally *by_class = NULL, all = {0, 0, n_member};
    double *work = NULL;
    NEW(by_class, classes);
    NEW(work, classes);
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
    fact_real(out, "threshold", threshold);
    add_share(out, "precision", all.right, all.flagged, confidence);
    add_share(out, "recall", all.right, n_member, confidence);
    add_share(out, "false_positive_rate", all.flagged - all.right, n_nonmember, confidence);
    fact_real(out, "balanced_accuracy",
              ((double)all.right / (double)n_member + (double)kept / (double)n_nonmember) / 2);
    fact_real(out, "prior", (double)n_member / (double)n);
    add_medians(out, by_class, work, classes);
done:
    base_free(by_class);
    base_free(work);
    return status;
}
