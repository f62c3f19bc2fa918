#include "run/stages/run_answers.h"
#include "sotto/private/io.h"

#include <math.h>

sotto_status run_answers_make(struct run_answers *a, const struct run *r, size_t index)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    size_t held = r->heldout_x.shape[0], first = run_case_first(r, index);
    *a = (struct run_answers){.ctx = r->ctx,
                              .n_member = c->records,
                              .n_nonmember = c->references > 0 && c->records < held ? c->records : held,
                              .classes = r->classes,
                              .width = r->width,
                              .member_x = (const float *)r->private_x.data + first * r->width,
                              .nonmember_x = r->heldout_x.data,
                              .member_y = (const int64_t *)r->private_y.data + first,
                              .nonmember_y = r->heldout_y.data};
    if (c->fine_tune) {
        TRY(run_load_tuned(&a->own_member, &a->own_nonmember, r, index));
        a->member_x = a->own_member.data;
        a->nonmember_x = a->own_nonmember.data;
    }
    NEW(a->member, a->n_member * a->classes);
    NEW(a->nonmember, a->n_nonmember * a->classes);
done:
    return status;
}

sotto_status run_answers_ask(struct run_answers *a, const struct sotto_head *head)
{
    sotto_status status = SOTTO_OK;
    TRY(sotto_head_predict(a->member, head, a->member_x, a->n_member, a->width, 1, a->ctx));
    TRY(sotto_head_predict(a->nonmember, head, a->nonmember_x, a->n_nonmember, a->width, 1, a->ctx));
done:
    return status;
}

sotto_status run_answers_ask_network(struct run_answers *a, const struct run *r, size_t index,
                                     const struct sotto_network *network)
{
    sotto_status status = SOTTO_OK;
    const int64_t *private = r->split.rows[SPLIT_PRIVATE] + run_case_first(r, index);
    TRY(sotto_network_predict_data(a->member, network, r->data, private, a->n_member, 1, a->ctx));
    TRY(sotto_network_predict_data(a->nonmember, network, r->data, r->split.rows[SPLIT_HELDOUT],
                                   a->n_nonmember, 1, a->ctx));
done:
    return status;
}

void run_answers_clear(struct run_answers *a)
{
    base_free(a->member);
    base_free(a->nonmember);
    base_free(a->kept_y);
    sotto_array_clear(&a->own_member);
    sotto_array_clear(&a->own_nonmember);
    *a = (struct run_answers){0};
}

double run_utility_loss(double accuracy, double unprotected)
{
    return unprotected > 0 ? 1 - accuracy / unprotected : NAN;
}

static size_t run_answers_argmax(const float *z, size_t k)
{
    size_t best = 0;
    for (size_t j = 1; j < k; j++)
        if (z[j] > z[best])
            best = j;
    return best;
}

size_t run_count_right(const float *logits, const int64_t *y, size_t n, size_t classes)
{
    size_t right = 0;
    for (size_t i = 0; i < n; i++)
        right += run_answers_argmax(logits + i * classes, classes) == (size_t)y[i];
    return right;
}
