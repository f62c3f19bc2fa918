/* Train a classifier on private records by DP-SGD, in one call: epsilon is charged to the ledger before the first step, and
 * the saved head has its certificate beside it. */
#include <sotto/lab/data.h>
#include <sotto/sotto.h>

#include "records.h"

#include <stdio.h>

int main(void)
{
    static float x[RECORDS * COLUMNS];
    static int64_t y[RECORDS];
    static unsigned char digests[RECORDS][SOTTO_DIGEST];
    make_records(x, y, 1);
    sotto_array_digests(digests, x, y, RECORDS, COLUMNS); /* other ledgers find the same records by these */
    const struct sotto_source_records source = {.digests = (const unsigned char(*)[SOTTO_DIGEST])digests,
                                                .n = RECORDS};
    const struct sotto_head_recipe recipe = {.trainer = "dp-sgd", .batch = 100, .lr = 1};
    const struct sotto_head_release_request request = {
        .x = x,
        .y = y,
        .n = RECORDS,
        .d = COLUMNS,
        .classes = CLASSES,
        .recipe = &recipe,
        .privacy = {.target = {.epsilon = 2}, /* its delta: below 1 / records */
                    .spend = {.dataset_id = "clinic-2026",
                              .ledger = "clinic-2026.ledger.jsonl",
                              .purpose = "diagnosis",
                              .source = &source},
                    .output = "private.safetensors"}};
    struct sotto_head_release_result made = {0};
    char *line = NULL;
    double accuracy = 0;
    if (sotto_head_release(&made, &request, NULL) != SOTTO_OK ||
        sotto_certificate_summary(&line, made.certificate) != SOTTO_OK ||
        sotto_head_accuracy(&accuracy, made.head, x, y, RECORDS, COLUMNS, NULL) != SOTTO_OK) {
        fprintf(stderr, "%s\n%s\n", sotto_error_text(), sotto_error_hint());
        return 1;
    }
    printf("%s\naccuracy on its own records (private: do not publish): %.3f\n", line, accuracy);
    sotto_text_free(line);
    sotto_certificate_free(made.certificate);
    sotto_head_free(made.head);
    return 0;
}
