/* The list, expanded twice: declarations, then the table. */
#include "audit/score/score_attack.h"

#include <math.h>
#include <string.h>

#define ROW(name) extern const struct score_attack attack_##name;
#include "audit/score/score_attack_list.h"
#undef ROW

const struct score_attack *const attack_table[] = {
#define ROW(name) &attack_##name,
#include "audit/score/score_attack_list.h"
#undef ROW
    NULL};

const struct score_attack *attack_find(const char *name)
{
    for (size_t i = 0; attack_table[i]; i++)
        if (strcmp(attack_table[i]->name, name) == 0)
            return attack_table[i];
    return NULL;
}

bool attack_applies(const struct score_attack *a, unsigned have)
{
    return (a->needs & ~have) == 0;
}

sotto_status attack_run(double *scores, const struct score_attack *a, const struct attack_input *in)
{
    sotto_status status = SOTTO_OK;
    double args[ATTACK_PARAMS];
    struct attack_output out = {.scores = scores, .threshold = NAN};
    NEW(out.fallback, in->n);
    TRY(attack_arguments(args, a, NULL));
    TRY(a->run(&out, in, args));
done:
    base_free(out.fallback);
    return status;
}
