/* A model that is a function of the caller's program. */
#include "attack/target/target.h"
#include "sotto/attack.h"

#include <string.h>

struct function_target {
    struct sotto_target target;
    sotto_model_function *answer;
    void *user;
    char *name;
};

enum { BLOCK = 1024 }; /* rows of a call */

static sotto_status target_function_ask(const struct function_target *f, float *posteriors, const float *rows,
                                        size_t n)
{
    struct status_record before, after;
    status_get(&before);
    status_set(&(struct status_record){.code = SOTTO_OK});
    sotto_status status = f->answer(f->user, posteriors, rows, n);
    status_get(&after);
    if (status == SOTTO_OK)
        status_set(&before); /* a failure that the function mended is none of ours */
    else if (after.code != status)
        status_fail(status, "%s: the model's function returned %s", f->name, sotto_status_name(status));
    return status;
}

static sotto_status target_function_query(struct sotto_target *t, float *posteriors, const float *rows,
                                          size_t n)
{
    sotto_status status = SOTTO_OK;
    for (size_t first = 0; first < n; first += BLOCK) {
        TRY(context_check(t->ctx, "%s: stopped after %zu of %zu rows", t->name, first, n));
        TRY(target_function_ask((const struct function_target *)t, posteriors + first * t->classes,
                                rows + first * t->inputs, n - first < BLOCK ? n - first : BLOCK));
    }
done:
    return status;
}

static void close_function(struct sotto_target *t)
{
    struct function_target *f = (struct function_target *)t;
    base_free(f->name);
    base_free(f);
}

sotto_status sotto_target_open_function(struct sotto_target **out, const char *name,
                                        sotto_model_function *answer, void *user, size_t inputs,
                                        size_t classes)
{
    REQUIRE_GIVEN(out, name, answer);
    sotto_status status = SOTTO_OK;
    struct function_target *f = NULL;
    REQUIRE(inputs > 0 && classes > 1, "%s: %zu inputs and %zu classes; expected at least 1 and 2", name,
            inputs, classes);
    NEW(f, 1);
    NEW(f->name, strlen(name) + 1);
    strcpy(f->name, name);
    f->target = target_make(f->name, inputs, classes);
    f->target.query = target_function_query;
    f->target.close = close_function;
    f->answer = answer;
    f->user = user;
    *out = &f->target;
    f = NULL;
done:
    if (f)
        close_function(&f->target);
    return status;
}
