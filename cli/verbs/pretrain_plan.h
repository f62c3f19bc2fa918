/* pretrain_plan.h - sotto pretrain --plan: what a run would take, here and on several ranks. */
#ifndef CLI_VERBS_PRETRAIN_PLAN_H
#define CLI_VERBS_PRETRAIN_PLAN_H

#include "options/options.h"

/* EUSAGE: on ranks, or beside --output. */
sotto_status pretrain_plan_check(const struct options *o);
sotto_status pretrain_plan_print(const struct sotto_dataset *data, const struct sotto_array *chosen,
                                 const struct sotto_pretrain_options *options,
                                 const struct sotto_context *ctx, int json);

#endif
