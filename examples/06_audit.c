/* Does a model leak its members? The losses of members and non-members under the model are all that this needs. */
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
    char *json = NULL, *summary = NULL;
    if (sotto_audit(&json, &in, &options, NULL) != SOTTO_OK ||
        sotto_audit_summary(&summary, json) != SOTTO_OK) {
        fprintf(stderr, "%s\n", sotto_error_text());
        return 1;
    }
    printf("%s", summary);
    sotto_text_free(summary);
    sotto_text_free(json);
    return 0;
}
