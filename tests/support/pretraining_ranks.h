/* Pre-training on ranks, which are threads here: what they run, and what is expected of all. */
#ifndef TESTS_PRETRAINING_RANKS_H
#define TESTS_PRETRAINING_RANKS_H

#include "support/pretraining.h"
#include "support/simulated_ranks.h"

/* Two epochs of 2 steps, of 16 images in 8 leaves. */
static inline struct sotto_pretrain_options small(void)
{
    struct sotto_pretrain_options o = tiny();
    o.batch = 16;
    o.order = "exact";
    o.leaf = 2;
    return o;
}

/* What ranks run. */
struct plan {
    struct sotto_pretrain_options options;
    const struct sotto_pretrain_options *other; /* of the last rank; NULL: the same */
    const char *sha256;                         /* expected weights; NULL: a failure */
    sotto_status failure;                       /* of all ranks, with this text */
    const char *text;
    size_t stop_rank, stop_after; /* which stops once so many images are done; 0: none */
    int threads;
};

static inline const char *pretrain_on_rank(const struct sotto_team *team, void *state)
{
    const struct plan *p = state;
    const size_t rank = sotto_team_rank(team), last = sotto_team_size(team) - 1;
    struct stopper s = {0, p->stop_after};
    struct sotto_context ctx = {.threads = p->threads, .team = team, .stop = &s.stop, .user = &s};
    struct sotto_pretrain_options o = rank == last && p->other ? *p->other : p->options;
    struct sotto_encoder *e = NULL;
    static _Thread_local char wrong[400];
    if (p->stop_after && rank == p->stop_rank)
        ctx.progress = watch;
    sotto_status status = sotto_pretrain(&e, NULL, images, NULL, 0, &o, &ctx);
    const bool other = status == SOTTO_OK && p->sha256 && strcmp(sotto_encoder_sha256(e), p->sha256) != 0;
    sotto_encoder_free(e);
    status = team_agree(team, status); /* as a program does at its end */
    if (other)
        return "other weights";
    if (status == (p->sha256 ? SOTTO_OK : p->failure) && (p->sha256 || strstr(sotto_error_text(), p->text)))
        return NULL;
    snprintf(wrong, sizeof wrong, "%s '%s'", sotto_status_name(status), sotto_error_text());
    return wrong;
}

#endif
