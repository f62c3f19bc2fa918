/* Release a histogram of 1,000 private answers with discrete Laplace noise. The ledger entry is written before the
 * noise is drawn; the certificate says what is guaranteed. */
#include <sotto/sotto.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    float counts[4] = {412, 309, 187, 92};
    const struct sotto_release release = {
        .mechanism = "discrete-laplace",
        .scale = NAN, /* found for the target */
        .target = {.epsilon = 1, .delta = 0},
        /* a replaced answer lowers one count by 1 and raises another by 1; counts are whole numbers */
        .sensitivity =
            {.l1 = 2, .l2 = NAN, .dimension = 4, .source = SOTTO_SENSITIVITY_PROVED, .value_step = 1},
        .spend = {.dataset_id = "survey-2026",
                  .ledger = "survey-2026.ledger.jsonl",
                  .purpose = "published histogram"},
        .records = 1000};
    struct sotto_certificate *certificate = NULL;
    char *line = NULL;
    if (sotto_dp_release(&certificate, counts, 4, &release, NULL) != SOTTO_OK ||
        sotto_certificate_summary(&line, certificate) != SOTTO_OK) {
        fprintf(stderr, "%s\n%s\n", sotto_error_text(), sotto_error_hint());
        return 1;
    }
    printf("%g %g %g %g\n%s\n", counts[0], counts[1], counts[2], counts[3], line);
    sotto_text_free(line);
    sotto_certificate_free(certificate);
    return 0;
}
