/* Protect a finished classifier: a convex trainer with proved sensitivity, then noise on all weights; and check
 * the released file against its certificate and ledger, as its receiver would. */
#include <sotto/lab/sensitivity.h>
#include <sotto/sotto.h>

#include "records.h"

#include <stdio.h>

static sotto_status protect(struct sotto_certificate **certificate, struct sotto_verification *v)
{
    static float x[RECORDS * COLUMNS];
    static int64_t y[RECORDS];
    make_records(x, y, 2);
    const struct sotto_head_recipe recipe = {.trainer = "convex"};
    struct sotto_head *head = NULL;
    struct sotto_sensitivity_sample proof = {0};
    struct sotto_protect p = {.input = "exact.safetensors",
                              .output = "protected.safetensors",
                              .release = {.mechanism = "logistic",
                                          .target = {.epsilon = 1, .delta = 1e-6},
                                          .spend = {.dataset_id = "ward-2026",
                                                    .ledger = "ward-2026.ledger.jsonl",
                                                    .purpose = "release of the classifier"},
                                          .records = RECORDS}};
    sotto_status status = sotto_head_train(&head, x, y, RECORDS, COLUMNS, CLASSES, &recipe, NULL);
    if (status == SOTTO_OK)
        status = sotto_head_save(p.input, head);
    if (status == SOTTO_OK)
        status = sotto_sensitivity_of_head(&p, &proof);
    if (status == SOTTO_OK)
        status = sotto_protect_file(certificate, &p, NULL);
    if (status == SOTTO_OK)
        status = sotto_verify(v, p.output, NULL, p.release.spend.ledger, NULL);
    sotto_head_free(head);
    return status;
}

int main(void)
{
    struct sotto_certificate *certificate = NULL;
    struct sotto_verification v = {0};
    char *text = NULL;
    if (protect(&certificate, &v) != SOTTO_OK || sotto_verification_text(&text, &v) != SOTTO_OK) {
        fprintf(stderr, "%s\n%s\n", sotto_error_text(), sotto_error_hint());
        return 1;
    }
    printf("%s", text);
    sotto_text_free(text);
    sotto_verification_clear(&v);
    sotto_certificate_free(certificate);
    return 0;
}
