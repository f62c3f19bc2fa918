/* What a row of `protect` that trains privately is made of, and what its training charges. */
#include "dp/release/release.h"
#include "head/model/head_trainer.h"
#include "run/stages/run_canaries.h"
#include "run/stages/run_network.h"
#include "run/stages/run_protect.h"

#include <stdio.h>
#include <string.h>

static const struct run_protection *run_training_row(const struct run *r, const struct run_model *m)
{
    return &r->config.cases[m->index].protections[m->protection];
}

sotto_status run_checkpoint_path(char out[RUN_PATH], const struct run *r, const struct run_model *m,
                                 const char *hash)
{
    const struct run_protection *p = run_training_row(r, m);
    char name[RUN_NAME + 80];
    out[0] = '\0';
    if (!p->trained || strncmp(p->mechanism, "dp-", 3) != 0)
        return SOTTO_OK;
    snprintf(name, sizeof name, "checkpoints/%s-%.16s.safetensors", m->name, hash);
    return run_folder_path(out, &r->folder, name);
}

sotto_status run_spend_of(struct sotto_spend *out, struct sotto_provenance *whose, const struct run *r,
                          const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    const struct run_protection *p = run_training_row(r, m);
    TRY(sotto_provenance_of_rows(whose, r->data, r->split.rows[SPLIT_PRIVATE] + run_case_first(r, m->index),
                                 r->config.cases[m->index].records));
    /* a network says itself what it begins with; its canaries lie along rows of the public part */
    if (!p->network || (run_has_canaries(r, m) && p->canaries.options.kind == SOTTO_CANARY_CLIPBKD))
        TRY(run_encoder_shape(whose, r));
    *out = (struct sotto_spend){.dataset_id = r->data->dataset_id,
                                .provenance = whose,
                                .read_from_data = p->release.spend.read_from_data,
                                .insecure = r->options->insecure,
                                .insecure_seed = r->options->insecure_seed};
done:
    return status;
}

struct sotto_head_privacy run_head_privacy(const struct run *r, const struct run_model *m,
                                           const struct sotto_spend *spend)
{
    const struct run_protection *p = run_training_row(r, m);
    return (struct sotto_head_privacy){.target = p->release.target,
                                       .spend = *spend,
                                       .classes_by = run_classes_by(r),
                                       .adjacency = p->adjacency};
}

sotto_status run_training_event(struct planned_event *out, const struct run *r, const struct run_model *m)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance whose = {0};
    struct sotto_spend spend;
    const size_t n = run_canaries_records(r, m);
    TRY(run_spend_of(&spend, &whose, r, m));
    const struct sotto_head_privacy head = run_head_privacy(r, m, &spend);
    TRY(run_network_of(r, m) ? run_network_event(out, r, m, n, &spend)
                             : head_private_as_event(out, n, r->width, r->classes,
                                                     &run_training_row(r, m)->recipe, &head, r->ctx));
done:
    sotto_provenance_clear(&whose);
    return status;
}
