/* shadow_set.h - the shadows of one attack, from the attacker's records to trained models and their
 * answers. */
#ifndef ATTACK_SHADOW_SHADOW_SET_H
#define ATTACK_SHADOW_SHADOW_SET_H

#include "attack/query_attack.h"
#include "attack/shadow/shadow_pool.h"
#include "attack/shadow/synthesis.h"

struct shadow_set {
    struct synthetic made; /* empty for real records */
    struct head_data data; /* what the shadows train on and are compared with */
    uint8_t *use;          /* (models, n) */
    struct shadow_plan plan;
    struct shadow_pool pool;
    struct sotto_head_recipe recipe;    /* of shadow heads: behind plan.recipe */
    struct sotto_train_options network; /* of network shadows: behind plan.network */
    size_t clean;                       /* of shadow_set_halves: records that are no poison, the first; */
    float *joined_x;                    /* all of them */
    int64_t *joined_y;
};
/* Shadows on the attacker's records, or on made-up ones, as in->options say: `models` of them unless options
 * ask for another number, by `recipe` (NULL: in->recipe). EUSAGE: no records to train on. */
sotto_status shadow_set_make(struct shadow_set *out, const struct query_input *in, size_t models,
                             const struct sotto_head_recipe *recipe);
/* The same with networks of another kind than in->network. */
sotto_status shadow_set_make_networks(struct shadow_set *out, const struct query_input *in, size_t models,
                                      const struct sotto_train_options *network);
/* The first on another set of records. */
sotto_status shadow_set_make_on(struct shadow_set *out, const struct query_input *in,
                                const struct head_data *data, size_t models,
                                const struct sotto_head_recipe *recipe);
/* Shadows of which every record to judge, and every record of the attacker, is in half: data starts with the
 * records to judge. */
sotto_status shadow_set_halves(struct shadow_set *out, const struct query_input *in, size_t models);
void shadow_set_clear(struct shadow_set *a);
/* Adds what was made and trained to facts; pending if other shards are not done. */
void shadow_set_report(struct query_result *result, const struct shadow_set *a);

/* What shadows say about records whose membership is known: the training set of an attack network. */
struct output_table {
    size_t n, width;
    float *x;        /* (n, width): posteriors, or the `width` largest of them, falling */
    int64_t *label;  /* (n): class of the record */
    int64_t *member; /* (n): 1 in, 0 out */
};
/* Adds the IN and OUT records of every shadow; width 0: whole posteriors. Start with {0}. */
sotto_status output_table_add(struct output_table *t, const struct shadow_set *a, size_t width,
                              const struct sotto_context *ctx);
/* posteriors (n, classes) of x (n, d) by the model that stands in for one shadow; called by several
 * threads. */
typedef sotto_status (*shadow_answer)(float *posteriors, const struct shadow_set *a, size_t model,
                                      const float *x, size_t n, void *arg);
/* The same records, answered by other models that were trained on the IN records of each shadow. */
sotto_status output_table_add_of(struct output_table *t, const struct shadow_set *a, size_t width,
                                 shadow_answer answer, void *arg, const struct sotto_context *ctx);
void output_table_clear(struct output_table *t);
/* out (width): the largest values of p (classes), falling. */
void answer_top(float *out, size_t width, const float *p, size_t classes);

#endif
