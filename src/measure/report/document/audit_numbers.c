/* The numbers that the verdict on an audit looks at, from a document of any version that was checked before: old ones have other
 * members in places that the verdict does not look at. */
#include "audit/audit_memory.h"
#include "report/document/document.h"

#include <math.h>
#include <stdlib.h>

static size_t count_at(const struct json *j, const char *path)
{
    const double x = part_number(j, path);
    return x >= 1 && x < 1e15 ? (size_t)x : 0;
}

static struct sotto_estimate estimate_at(const struct json *j)
{
    return (struct sotto_estimate){part_number(j, "estimate"), part_number(j, "lower"),
                                   part_number(j, "upper")};
}

static sotto_status take_curve(struct sotto_audit_attack *a, struct sotto_audit_memory **memory,
                               const struct json *roc)
{
    sotto_status status = SOTTO_OK;
    a->roc_count = json_count(roc);
    TAKE(memory, a->roc, a->roc_count + 1);
    for (size_t i = 0; i < a->roc_count; i++)
        a->roc[i] = (struct sotto_audit_point){json_number(json_at(json_at(roc, i), 0)),
                                               json_number(json_at(json_at(roc, i), 1))};
done:
    return status;
}

/* The rates that were asked for, measured or not. */
static sotto_status take_rates(struct sotto_audit_attack *a, struct sotto_audit_memory **memory,
                               const struct json *rates)
{
    sotto_status status = SOTTO_OK;
    size_t count = 0;
    for (const char *key = json_first_key(rates); key; key = json_next_key(rates, key))
        count++;
    TAKE(memory, a->rates, count + 1);
    for (const char *key = json_first_key(rates); key; key = json_next_key(rates, key))
        a->rates[a->rate_count++].fpr = strtod(key, NULL);
done:
    return status;
}

static sotto_status take_one_run(struct sotto_audit_attack *a, struct sotto_audit_memory **memory,
                                 const struct json *run)
{
    sotto_status status = SOTTO_OK;
    if (!run)
        return SOTTO_OK;
    TAKE(memory, a->one_run, 1);
    a->one_run->records = count_at(run, "records");
    a->one_run->guesses = count_at(run, "guesses");
    a->one_run->right = count_at(run, "right");
done:
    return status;
}

static sotto_status take_attack(struct sotto_audit_attack *a, struct sotto_audit_memory **memory,
                                const struct attack_result *read, const struct json *j)
{
    sotto_status status = SOTTO_OK;
    const struct json *bound = part(j, "epsilon_detail"), *shared = part(j, "simultaneous");
    a->name = read->name;
    a->n_member = read->n_member, a->n_nonmember = read->n_nonmember;
    a->auc.area = (struct sotto_estimate){read->auc.value, read->auc.lower, read->auc.upper};
    a->balanced.n_member = read->scored_member, a->balanced.n_nonmember = read->scored_nonmember;
    a->epsilon.tpr.estimate = part_number(bound, "tpr");
    a->epsilon.fpr.estimate = part_number(bound, "fpr");
    a->epsilon.n_member = count_at(bound, "n_member");
    a->epsilon.n_nonmember = count_at(bound, "n_nonmember");
    a->epsilon.group_size = count_at(bound, "group_size");
    a->simultaneous.confidence = part_number(shared, "confidence");
    a->simultaneous.auc = estimate_at(part(shared, "auc"));
    TRY(take_curve(a, memory, read->roc));
    TRY(take_rates(a, memory, read->rates));
    TRY(take_one_run(a, memory, part(j, "one_run")));
done:
    return status;
}

static sotto_status take_accuracy(struct sotto_audit_result *r, const struct json *j)
{
    sotto_status status = SOTTO_OK;
    const struct json *member = part(j, "member"), *nonmember = part(j, "nonmember");
    if (!member || !nonmember)
        return SOTTO_OK;
    TAKE(&r->memory, r->accuracy, 1);
    r->accuracy->member = (struct sotto_audit_accuracy){estimate_at(member), count_at(member, "n")};
    r->accuracy->nonmember = (struct sotto_audit_accuracy){estimate_at(nonmember), count_at(nonmember, "n")};
done:
    return status;
}

static sotto_status take_claim(struct sotto_audit_result *r, const struct report_row *row)
{
    sotto_status status = SOTTO_OK;
    if (!row->claimed)
        return SOTTO_OK;
    TAKE(&r->memory, r->claim, 1);
    *r->claim = (struct sotto_audit_claim){.epsilon = row->claim_epsilon,
                                           .delta = row->claim_delta,
                                           .lower_bound = row->claim_bound,
                                           .contradicted = row->claim_contradicted,
                                           .attack = row->claim_attack};
done:
    return status;
}

sotto_status row_take_numbers(struct report_row *row)
{
    sotto_status status = SOTTO_OK;
    struct sotto_audit_result *r = &row->found;
    r->confidence = row->confidence;
    r->delta = part_number(row->audit, "delta");
    TAKE(&r->memory, r->attacks, row->attack_count + 1);
    for (; r->attack_count < row->attack_count; r->attack_count++)
        TRY(take_attack(&r->attacks[r->attack_count], &r->memory, &row->attacks[r->attack_count],
                        json_at(part(row->audit, "attacks"), r->attack_count)));
    TRY(take_accuracy(r, part(row->audit, "accuracy")));
    TRY(take_claim(r, row));
    if (part(row->audit, "attribute"))
        TAKE(&r->memory, r->attribute, 1);
done:
    return status;
}
