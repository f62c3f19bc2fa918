/* Does a model leak its members? The losses of members and non-members under the model are all that this needs. */
#include <sotto/lab/audit.h>
#include <sotto/sotto.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 500 };

int main(void)
{
    static double member[N], nonmember[N];
    for (int i = 0; i < N; i++) { /* losses as a network that fits its members too well has them */
        member[i] = -0.5 * log(((double)rand() + 1) / ((double)RAND_MAX + 2));
        nonmember[i] = -log(((double)rand() + 1) / ((double)RAND_MAX + 2));
    }
    const struct sotto_audit_input in = {
        .n_member = N, .n_nonmember = N, .member_losses = member, .nonmember_losses = nonmember};
    const struct sotto_audit_options options = {.confidence = 0.95};
    struct sotto_audit_result result = {0};
    char *summary = NULL;
    if (sotto_audit(&result, &in, &options, NULL) != SOTTO_OK ||
        sotto_audit_summary(&summary, &result) != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    printf("%s", summary);
    for (size_t i = 0; i < result.attack_count; i++) /* the same as plain values */
        printf("%s: AUC %.3f, epsilon at least %.2f\n", result.attacks[i].name,
               result.attacks[i].auc.area.estimate, result.attacks[i].epsilon.lower_bound);
    struct sotto_audit_verdict verdict;
    sotto_audit_judge(&verdict, &result);
    printf("verdict: %s: %s\n", sotto_verdict_name(verdict.kind), verdict.text);
    sotto_text_free(summary);
    sotto_audit_result_free(&result);
    return 0;
}
