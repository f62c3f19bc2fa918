/* A head or MLP from a file, answered here. */
#include "attack/target/target.h"
#include "sotto/attack.h"

struct head_target {
    struct sotto_target target;
    struct sotto_head *head;
    char *path;
};

static sotto_status target_head_query(struct sotto_target *t, float *posteriors, const float *rows, size_t n)
{
    return sotto_head_predict(posteriors, ((struct head_target *)t)->head, rows, n, t->inputs, 0, t->ctx);
}

static void close_head(struct sotto_target *t)
{
    struct head_target *h = (struct head_target *)t;
    sotto_head_free(h->head);
    base_free(h->path);
    base_free(h);
}

sotto_status target_open_head(struct sotto_target **out, const char *path)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct head_target *h = NULL;
    NEW(h, 1);
    NEW_TEXT(h->path, path);
    TRY(sotto_head_load(&h->head, path));
    h->target = target_make(h->path, sotto_head_inputs(h->head), sotto_head_classes(h->head));
    h->target.head = h->head;
    h->target.query = target_head_query;
    h->target.close = close_head;
    *out = &h->target;
    h = NULL;
done:
    if (h)
        close_head(&h->target);
    return status;
}
