/* src/core/options: tables of the options structs. */
#include "support/test.h"

#include "options/module_tables.h"
#include "sotto/private/all.h"

#include <math.h>
#include <string.h>

static const struct sotto_option *const tables[] = {
#define OPTIONS(name) options_##name,
#include "options/all_tables.h"
#undef OPTIONS
};
enum { TABLES = sizeof tables / sizeof *tables };

TEST(rows_are_complete)
{
    for (size_t t = 0; t < TABLES; t++)
        for (const struct sotto_option *r = tables[t]; r->name; r++) {
            assert_true(r->key && r->key[0] && (!r->group || r->group[0]) && r->help && r->help[0]);
            assert_true((r->type == SOTTO_OPTION_FLAG) == !r->unit);
            assert_true(r->type != SOTTO_OPTION_SIZES || r->capacity > 0);
            assert_ptr_equal(sotto_option_find(tables[t], r->name), r); /* no name twice */
            if (r->type != SOTTO_OPTION_INPUT) /* of which several may fill one member */
                assert_ptr_equal(sotto_option_find(tables[t], r->key), r);
        }
    assert_null(sotto_option_find(sotto_option_table("head_recipe"), "no-such-option"));
}

TEST(defaults_are_those_of_the_structs)
{
    struct sotto_head_recipe h;
    struct sotto_train_options t;
    struct sotto_train_privacy p;
    struct sotto_pretrain_options e;
    sotto_head_defaults(&h);
    sotto_train_defaults(&t);
    sotto_train_privacy_defaults(&p);
    sotto_pretrain_defaults(&e);
    assert_string_equal(h.trainer, "adam");
    assert_true(h.epochs == 20 && h.batch == 25 && h.lr == 0 && h.seed == 1 && h.clip == 1 && h.bias == 1);
    assert_true(h.lambda == 0.01 && h.steps == 0 && h.step_size == 0 && h.tolerance == 0.01 && h.cross == 1);
    assert_true(h.max_grad_norm == 1 && h.noise_multiplier == 0 && h.momentum == 0 && h.hidden_count == 0);
    assert_string_equal(h.noise, "gaussian");
    assert_true(t.epochs == 20 && t.batch == 64 && t.lr == 1e-3 && t.seed == 1 && !t.flip &&
                !t.residual.kind);
    assert_string_equal(t.model, "cnn");
    assert_string_equal(t.backend, "auto");
    assert_true(p.target.epsilon == 0 && p.target.delta == 0 && p.quantile == 0.5 && p.views == 1);
    assert_string_equal(p.clipping, "flat");
    assert_true(e.epochs == 10 && e.batch == 256 && e.min_area == 0.25 && e.brightness == 0.6 &&
                e.blur == 0.5);
    assert_string_equal(e.method, "simclr");
}

TEST(defaults_are_within_their_ranges)
{
    struct sotto_head_recipe h;
    struct sotto_train_options t;
    struct sotto_pretrain_options e;
    sotto_head_defaults(&h);
    sotto_train_defaults(&t);
    sotto_pretrain_defaults(&e);
    assert_int_equal(
        sotto_options_check(&h, sotto_option_table("head_recipe"),
                            "epochs|batch|lr|seed|clip|bias|lambda|steps|step_size|tolerance|cross"),
        SOTTO_OK);
    assert_int_equal(sotto_options_check(&t, sotto_option_table("train"), NULL), SOTTO_OK);
    assert_int_equal(sotto_options_check(&e, sotto_option_table("pretrain"), NULL), SOTTO_OK);
}

static void refused(const char *key, const char *text, const char *error)
{
    struct sotto_head_recipe h;
    sotto_head_defaults(&h);
    const struct sotto_option *row = sotto_option_find(sotto_option_table("head_recipe"), key);
    sotto_status status = sotto_option_set(&h, row, text);
    if (status == SOTTO_OK)
        status = sotto_options_check(&h, sotto_option_table("head_recipe"), row->key);
    assert_int_equal(status, SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), error);
}

TEST(values_from_text)
{
    struct sotto_head_recipe h;
    const struct sotto_option *table = sotto_option_table("head_recipe");
    sotto_head_defaults(&h);
    assert_int_equal(sotto_option_set(&h, sotto_option_find(table, "hidden"), "512,128"), SOTTO_OK);
    assert_true(h.hidden_count == 2 && h.hidden[0] == 512 && h.hidden[1] == 128);
    assert_int_equal(sotto_option_set(&h, sotto_option_find(table, "hidden"), "[64, 32, 16]"), SOTTO_OK);
    assert_true(h.hidden_count == 3 && h.hidden[2] == 16);
    assert_int_equal(sotto_option_set(&h, sotto_option_find(table, "hidden"), "[]"), SOTTO_OK);
    assert_true(h.hidden_count == 0);
    assert_int_equal(sotto_option_set(&h, sotto_option_find(table, "clip-norm"), "0.5"), SOTTO_OK);
    assert_true(h.max_grad_norm == 0.5);
    refused("lr", "fast", "lr: 'fast' is not a number");
    refused("epochs", "-1", "epochs: '-1' is not a whole number >= 0");
    refused("hidden", "512,", "hidden: '512,' is not a list of whole numbers; expected for example 512,128");
    refused("hidden", "1,2,3,4,5,6,7,8", "hidden: too many numbers; expected at most 7");
    refused("lr", "-1", "lr must be at least 0 and at most 1000 (got -1)");
    refused("lr", "nan", "lr must be at least 0 and at most 1000 (got nan)");
    refused("momentum", "1", "momentum must be at least 0 and below 1 (got 1)");
    refused("batch", "0", "batch must be at least 1 (got 0)");
    refused("seed", "9223372036854775808", "seed 9223372036854775808 is too large; expected less than 2^63");
}

TEST(choices_are_names_of_an_enum)
{
    struct sotto_sampled s = {0};
    const struct sotto_option *table = sotto_option_table("sampled");
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "clipping"), "l1"), SOTTO_OK);
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "sampling"), "fixed"), SOTTO_OK);
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "adjacency"), "add-remove"), SOTTO_OK);
    assert_true(s.clipping == SOTTO_NORM_L1 && s.sampling == SOTTO_SAMPLING_FIXED &&
                s.adjacency == SOTTO_ADD_REMOVE);
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "clipping"), "l"), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(), "clipping must be l2 or l1 (got 'l')");
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "adjacency"), ""), SOTTO_EINVAL);
    assert_true(s.clipping == SOTTO_NORM_L1 && s.adjacency == SOTTO_ADD_REMOVE);
    assert_int_equal(sotto_options_resolve(&s, NULL, table), SOTTO_OK);
    assert_true(s.clipping == SOTTO_NORM_L2 && s.sampling == SOTTO_SAMPLING_POISSON &&
                s.adjacency == SOTTO_REPLACE_ONE);
    for (int a = SOTTO_REPLACE_ONE; a <= SOTTO_ADD_REMOVE;
         a++) { /* the order of the names is that of the enum */
        assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "adjacency"), sotto_adjacency_name(a)),
                         SOTTO_OK);
        assert_int_equal(s.adjacency, a);
    }
}
