/* p-values of a test, record by record. The normal one rests on independent features, and the non-members show
 * whether it holds; the conformal one rests on exchangeable records alone. */
#include "audit/audit_private.h"
#include "base/file.h"
#include "num/beta.h"
#include "sotto/lab/audit.h"

#include <math.h>
#include <stdlib.h>

static const double level = 0.01;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the rising values are at least x. */
static size_t as_high(const double *rising, size_t n, double x)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rising[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return n - low;
}

/* A non-member does not stand against itself: the others and it make up the 1 + n of its share. */
static sotto_status audit_p_values_fill(struct sotto_audit_p_value **out, struct sotto_audit_memory **memory,
                                        const double *scores, size_t n, const double *rising, size_t n_out,
                                        bool outside)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_p_value *p;
    TAKE(memory, p, n);
    for (size_t i = 0; i < n; i++) {
        const size_t high = as_high(rising, n_out, scores[i]) + !outside;
        p[i] = (struct sotto_audit_p_value){.score = scores[i],
                                            .normal = erfc(scores[i] / sqrt(2)) / 2,
                                            .conformal = (double)high / (double)(n_out + !outside)};
    }
    *out = p;
done:
    return status;
}

static struct sotto_estimate audit_p_values_share(const struct sotto_audit_p_value *p, size_t n,
                                                  bool conformal, double confidence)
{
    size_t low = 0;
    for (size_t i = 0; i < n; i++)
        low += (conformal ? p[i].conformal : p[i].normal) <= level;
    struct sotto_estimate e = {.estimate = (double)low / (double)n};
    clopper_pearson(&e.lower, &e.upper, (double)low, (double)n, confidence);
    return e;
}

static void write_side(struct atomic_file *f, const char *attack, const char *side,
                       const struct sotto_audit_p_value *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(f->stream, "%s,%s,%zu,%.17g,%.17g,%.17g\n", attack, side, i, p[i].score, p[i].normal,
                p[i].conformal);
}

sotto_status sotto_audit_save_p_values(const char *path, const struct sotto_audit_result *result)
{
    REQUIRE_GIVEN(path, result);
    sotto_status status = SOTTO_OK;
    struct atomic_file f = {0};
    bool any = false;
    for (size_t i = 0; i < result->attack_count; i++)
        any |= result->attacks[i].p_values && result->attacks[i].p_values->member;
    if (!any)
        FAIL(SOTTO_EUSAGE,
             "p-values: no attack of this audit has any; they need 'homer', so a released mean");
    TRY(atomic_open(&f, path));
    fputs("attack,side,row,score,p_normal,p_conformal\n", f.stream);
    for (size_t i = 0; i < result->attack_count; i++) {
        const struct sotto_audit_attack *a = &result->attacks[i];
        if (!a->p_values || !a->p_values->member)
            continue;
        write_side(&f, a->name, "member", a->p_values->member, a->n_member);
        write_side(&f, a->name, "nonmember", a->p_values->nonmember, a->n_nonmember);
    }
    TRY(atomic_commit(&f));
done:
    atomic_discard(&f);
    return status;
}

sotto_status audit_p_values(struct sotto_audit_attack *out, struct sotto_audit_memory **memory,
                            const struct audit_scored *s, double confidence)
{
    sotto_status status = SOTTO_OK;
    double *rising = NULL;
    struct sotto_audit_p_values *p;
    TAKE(memory, p, 1);
    NEW(rising, s->n_nonmember);
    for (size_t i = 0; i < s->n_nonmember; i++)
        rising[i] = s->nonmember[i];
    qsort(rising, s->n_nonmember, sizeof *rising, by_value);
    TRY(audit_p_values_fill(&p->member, memory, s->member, s->n_member, rising, s->n_nonmember, false));
    TRY(audit_p_values_fill(&p->nonmember, memory, s->nonmember, s->n_nonmember, rising, s->n_nonmember,
                            true));
    p->level = level;
    p->member_normal = audit_p_values_share(p->member, s->n_member, false, confidence);
    p->member_conformal = audit_p_values_share(p->member, s->n_member, true, confidence);
    p->nonmember_normal = audit_p_values_share(p->nonmember, s->n_nonmember, false, confidence);
    p->normal_refuted = p->nonmember_normal.lower > level;
    out->p_values = p;
done:
    base_free(rising);
    return status;
}
