#include "head/model/head_trainer.h"
#include "sotto/lab/head.h"

#include "base/status.h"
#include "options/option_values.h"
#include "base/choice.h"

#include <stdio.h>
#include <string.h>

#define ROW(name) extern const struct head_trainer head_trainer_##name;
#include "head/model/head_trainer_list.h"
#undef ROW

static const struct head_trainer *const trainers[] = {
#define ROW(name) &head_trainer_##name,
#include "head/model/head_trainer_list.h"
#undef ROW
};

const struct head_trainer *head_trainer_at(size_t i)
{
    return i < sizeof trainers / sizeof *trainers ? trainers[i] : NULL;
}

const struct head_trainer *head_trainer_find(const char *name)
{
    const struct head_trainer *t;
    for (size_t i = 0; (t = head_trainer_at(i)); i++)
        if (strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

const struct head_trainer *head_trainer_of(const struct sotto_head_recipe *r)
{
    return head_trainer_find(r->trainer);
}

bool head_recipe_convex(const struct sotto_head_recipe *r)
{
    const struct head_trainer *t = head_trainer_of(r);
    return t && t->convex;
}

bool head_recipe_private(const struct sotto_head_recipe *r)
{
    return sotto_head_trainer_private(r->trainer) != 0;
}

const struct moment_trainer *head_recipe_moments(const struct sotto_head_recipe *r)
{
    const struct head_trainer *t = head_trainer_of(r);
    return t ? t->moments : NULL;
}

sotto_status sotto_head_trainer_check(const char *trainer)
{
    REQUIRE_GIVEN(trainer);
    char names[256] = "";
    const struct head_trainer *t;
    for (size_t i = 0; (t = head_trainer_at(i)); i++) {
        if (trainer && strcmp(t->name, trainer) == 0)
            return SOTTO_OK;
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s",
                 i == 0                   ? ""
                 : head_trainer_at(i + 1) ? ", "
                                          : " or ",
                 t->name);
    }
    return choice_unknown(SOTTO_EINVAL, "trainer", trainer ? trainer : "", names);
}

int sotto_head_trainer_reads(const char *trainer, const char *key)
{
    GIVEN_OR(0, trainer, key);
    char text[HEAD_RECIPE_TEXT], wanted[64];
    struct sotto_head_recipe r;
    const struct head_trainer *t = head_trainer_find(trainer);
    if (!t || option_listed_in("trainer|hidden|seed|augment_noise|balance",
                               key)) /* others have their own refusals of these */
        return 1;
    sotto_head_defaults(&r);
    r.trainer = t->name;
    r.noise_multiplier = 1;
    r.rows_per_step = 1;
    r.average = 0.5;
    r.steps = 4;
    if (head_recipe_check(&r) != SOTTO_OK)
        return 1;
    t->text(text, &r, 1, 2);
    snprintf(wanted, sizeof wanted, "\"%s\":", key);
    return strstr(text, wanted) != NULL;
}

int sotto_head_trainer_private(const char *trainer)
{
    GIVEN_OR(0, trainer);
    const struct head_trainer *t = head_trainer_find(trainer);
    return !t || !t->train_private ? 0 : t->moments || t->once ? 2 : 1;
}

int sotto_head_trainer_silent(const char *trainer)
{
    GIVEN_OR(0, trainer);
    const struct head_trainer *t = head_trainer_find(trainer);
    return t && (t->train_private || t->convex);
}

/* The i-th trainer on second moments, or NULL. */
static const struct head_trainer *moment_trainer(size_t i)
{
    const struct head_trainer *t;
    for (size_t at = 0; (t = head_trainer_at(at)); at++)
        if (t->moments && i-- == 0)
            return t;
    return NULL;
}

const char *head_moment_trainer(size_t i)
{
    const struct head_trainer *t = moment_trainer(i);
    return t ? t->name : NULL;
}

const char *head_moment_title(size_t i)
{
    const struct head_trainer *t = moment_trainer(i);
    return t ? t->title : NULL;
}
