#include "head/model/head_trainer.h"

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

int sotto_head_trainer_private(const char *trainer)
{
    const struct head_trainer *t = head_trainer_find(trainer);
    return !t || !t->train_private ? 0 : t->moments || t->once ? 2 : 1;
}

int sotto_head_trainer_silent(const char *trainer)
{
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

const char *sotto_head_moment_trainer(size_t i)
{
    const struct head_trainer *t = moment_trainer(i);
    return t ? t->name : NULL;
}

const char *sotto_head_moment_title(size_t i)
{
    const struct head_trainer *t = moment_trainer(i);
    return t ? t->title : NULL;
}
