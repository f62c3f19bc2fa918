/* AttriGuard as published, on tables of values between 0 and 1: phase I changes one entry after the other,
 * the one that by the gradient of the defender's classifier pulls hardest towards the value, by `step` up or
 * down and within 0 .. 1; a change costs the number of entries that differ. Which entries may change is the
 * policy: those that are not 0 (Modify_Exist), those that are 0 (Add_New), all of them (Modify_Add, which the
 * authors found best). */
#include "defend/attriguard.h"

#include <math.h>

enum { STEP = ATTRIGUARD_OWN, POLICY };
enum { MODIFY_EXIST, ADD_NEW, MODIFY_ADD };
static const struct parameter params[] = {ATTRIGUARD_PARAMS(100),
                                          {"step", "change of an entry in one step", 1, 1e-6, 1, false},
                                          {"policy",
                                           "0: change non-zero entries, 1: change zero entries, 2: both",
                                           MODIFY_ADD, MODIFY_EXIST, MODIFY_ADD, true},
                                          {0}};

static bool defence_attriguard_table_allowed(double original, int policy)
{
    return policy == MODIFY_ADD || (policy == ADD_NEW) == (original == 0);
}

/* The entry with the best move up or down, and its new value; false: no move helps. */
static bool defence_attriguard_table_choose(size_t *entry, double *value, const struct attriguard_look *look,
                                            const double *pull)
{
    double step = look->a->args[STEP], most = 0;
    for (size_t j = 0; j < look->d; j++) {
        double to = pull[j] < 0 ? fmin(1, look->x[j] + step) : fmax(0, look->x[j] - step);
        double gain = -pull[j] * (to - look->x[j]);
        if (gain > most &&
            defence_attriguard_table_allowed((double)look->row[j], (int)look->a->args[POLICY])) {
            most = gain;
            *entry = j, *value = (double)(float)to;
        }
    }
    return most > 0;
}

static double defence_attriguard_table_search(float *moved, struct attriguard_look *look, size_t value)
{
    size_t entry = 0, changed = 0;
    double to = 0;
    for (size_t j = 0; j < look->d; j++)
        look->x[j] = (double)look->row[j];
    size_t answered = attriguard_answer(look);
    for (size_t i = 0; answered != value && i < (size_t)look->a->args[ATTRIGUARD_STEPS]; i++) {
        if (!defence_attriguard_table_choose(&entry, &to, look, attriguard_pull(look, value)))
            return INFINITY;
        look->x[entry] = to;
        answered = attriguard_answer(look);
    }
    for (size_t j = 0; j < look->d; j++) {
        moved[j] = (float)look->x[j];
        changed += moved[j] != look->row[j];
    }
    return answered == value ? (double)changed : INFINITY;
}

static sotto_status defence_attriguard_table_fit(void **model, const struct defence_fit *in)
{
    return attriguard_fit(model, in, defence_attriguard_table_search);
}

const struct defence defence_attriguard_table = {
    .name = "attriguard-table",
    .title = "table entries changed so that a classifier infers a randomly drawn attribute",
    .source = "Jia and Gong 2018",
    .unit = "expected number of changed entries of a row",
    .usual_budget = 5,
    .needs = DEFENCE_SECRETS | DEFENCE_SHARES,
    .params = params,
    .fit = defence_attriguard_table_fit,
    .apply = attriguard_apply,
    .release = attriguard_release};
