/* {0} means defaults, for every row of every table; a stated zero stays one, and what is resolved can be stated again. */
#include "support/test.h"

#include "options/option_values.h"
#include "options/module_tables.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct sotto_option *const tables[] = {
#define OPTIONS(name) options_##name,
#include "options/all_tables.h"
#undef OPTIONS
};
enum { TABLES = sizeof tables / sizeof *tables, LARGEST = 4096 };

/* Any of the structs. */
union any {
    uint64_t aligned[LARGEST / sizeof(uint64_t)];
    char bytes[LARGEST];
};

static size_t size_of(const struct sotto_option *table)
{
    while (table->name)
        table++;
    assert_in_range(table->capacity, 1, LARGEST);
    assert_true(table->offset + sizeof(uint64_t) <= table->capacity);
    return table->capacity;
}

/* Arguments of calls stand in no struct. */
static bool of_a_struct(const struct sotto_option *table)
{
    while (table->name)
        table++;
    return table->capacity > 0;
}

static void resolve(union any *out, const union any *given, const struct sotto_option *table)
{
    assert_int_equal(sotto_options_resolve(out, given, table), SOTTO_OK);
}

/* A number as a double; NAN of others. */
static double number(const union any *o, const struct sotto_option *row)
{
    double real = NAN;
    size_t count;
    uint64_t seed;
    if (row->type == SOTTO_OPTION_REAL)
        memcpy(&real, o->bytes + row->offset, sizeof real);
    else if (row->type == SOTTO_OPTION_COUNT)
        real = (memcpy(&count, o->bytes + row->offset, sizeof count), (double)count);
    else if (row->type == SOTTO_OPTION_SEED)
        real = (memcpy(&seed, o->bytes + row->offset, sizeof seed), (double)seed);
    return real;
}

static bool is_number(const struct sotto_option *row)
{
    return row->type == SOTTO_OPTION_REAL || row->type == SOTTO_OPTION_COUNT ||
           row->type == SOTTO_OPTION_SEED;
}

static void expect_default(const union any *o, const struct sotto_option *row)
{
    const char *text;
    int flag;
    if (row->type == SOTTO_OPTION_REAL && row->value && strcmp(row->value, "auto") == 0) {
        assert_true(isnan(number(o, row)));
    } else if (is_number(row)) {
        assert_true(number(o, row) == (row->value ? strtod(row->value, NULL) : 0));
    } else if (row->type == SOTTO_OPTION_TEXT) {
        memcpy(&text, o->bytes + row->offset, sizeof text);
        assert_true(!text == !row->value);
        if (text)
            assert_string_equal(text, row->value);
    } else if (row->type == SOTTO_OPTION_FLAG) {
        memcpy(&flag, o->bytes + row->offset, sizeof flag);
        assert_int_equal(flag, 0); /* or {0} could not say "no" */
    }
}

TEST(nothing_given_is_every_default)
{
    for (size_t t = 0; t < TABLES; t++)
        if (of_a_struct(tables[t])) {
            const struct sotto_option *table = tables[t];
            union any given = {{0}}, out, of_null, filled = {{0}}, of_filled;
            resolve(&out, &given, table);
            assert_int_equal(sotto_options_resolve(&of_null, NULL, table), SOTTO_OK);
            options_defaults(&filled, table);
            resolve(&of_filled, &filled, table);
            assert_memory_equal(&of_null, &out, size_of(table));
            assert_memory_equal(&of_filled, &out, size_of(table));
            for (const struct sotto_option *r = table; r->name; r++)
                expect_default(&out, r);
        }
}

/* Also where the range excludes 0: it is then refused, not replaced. */
TEST(a_given_zero_stays_zero)
{
    size_t marked = 0;
    for (size_t t = 0; t < TABLES; t++)
        if (of_a_struct(tables[t]))
            for (const struct sotto_option *r = tables[t]; r->name; r++) {
                union any given = {{0}}, out;
                if (!is_number(r))
                    continue;
                assert_int_equal(sotto_option_set(&given, r, "0"), SOTTO_OK);
                marked += option_is_marked(&given, r);
                resolve(&out, &given, tables[t]);
                assert_true(number(&out, r) == 0 && !signbit(number(&out, r)));
                /* The check says the same of both: it takes a mark for 0. */
                assert_int_equal(sotto_options_check(&given, tables[t], r->key),
                                 sotto_options_check(&out, tables[t], r->key));
            }
    assert_true(marked > 30);
}

TEST(a_resolved_struct_can_be_stated_again)
{
    for (size_t t = 0; t < TABLES; t++)
        if (of_a_struct(tables[t])) {
            const struct sotto_option *table = tables[t];
            for (const struct sotto_option *r = table; r->name; r++) {
                union any given = {{0}}, once, stated, twice;
                if (is_number(r))
                    assert_int_equal(sotto_option_set(&given, r, "0"), SOTTO_OK);
                if (sotto_options_check(&given, table, r->key) != SOTTO_OK)
                    continue; /* 0 is no value of this member */
                resolve(&once, &given, table);
                stated = once;
                options_state(&stated, table);
                resolve(&twice, &stated, table);
                assert_memory_equal(&twice, &once, size_of(table));
            }
        }
}

/* Tiny numbers may count as 0 in a program's floating-point mode; marks are found by their bits. */
TEST(marks_and_zeros_are_told_apart)
{
    struct sotto_head_recipe r = {.bias = SOTTO_ZERO, .lambda = -0.0, .seed = SOTTO_SEED_ZERO};
    assert_true(SOTTO_ZERO > 0 && isnormal(SOTTO_ZERO)); /* survives a mode that flushes subnormal numbers */
    assert_int_equal(sotto_options_resolve(&r, &r, sotto_option_table("head_recipe")),
                     SOTTO_OK); /* in place */
    assert_true(r.bias == 0 && r.lambda == 0.01 && r.seed == 0);
    assert_true(sotto_given_real(0) == SOTTO_ZERO && sotto_given_real(0.5) == 0.5);
    assert_true(sotto_given_count(0) == SOTTO_NONE && sotto_given_count(3) == 3);
    assert_true(sotto_given_seed(0) == SOTTO_SEED_ZERO && sotto_given_seed(7) == 7);
}

TEST(the_last_row_has_the_size_of_the_struct)
{
    for (size_t t = 0; t < TABLES; t++)
        if (of_a_struct(tables[t])) {
            const struct sotto_option *end = tables[t];
            while (end->name)
                end++;
            for (const struct sotto_option *row = tables[t]; row->name; row++)
                assert_true(row->offset < end->capacity && row->count < end->capacity);
        }
}

/* One list of changes serves two structs. */
TEST(changes_replace_members_of_the_same_key)
{
    const struct sotto_option *table = sotto_option_table("shadow");
    struct sotto_shadow_recipe s = {0};
    struct sotto_head_recipe h = {
        .trainer = "sgd", .hidden = {5, 6}, .hidden_count = 2, .epochs = 7, .batch = 8};
    const struct sotto_head_recipe before = h;
    struct sotto_train_options t = {.model = "cnn"};
    assert_false(options_given(&s, table));
    assert_int_equal(options_change(&h, sotto_option_table("head_recipe"), &s, table), SOTTO_OK);
    assert_memory_equal(&h, &before, sizeof h);
    s = (struct sotto_shadow_recipe){
        .model = "mlp", .trainer = "adam", .hidden = {3}, .hidden_count = 1, .lr = 0.5};
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "epochs"), "0"), SOTTO_OK);
    assert_true(options_given(&s, table));
    assert_int_equal(options_change(&h, sotto_option_table("head_recipe"), &s, table), SOTTO_OK);
    assert_string_equal(h.trainer, "adam");
    assert_true(h.hidden_count == 1 && h.hidden[0] == 3 && h.epochs == SOTTO_NONE && h.batch == 8 &&
                h.lr == 0.5);
    assert_int_equal(options_change(&t, sotto_option_table("train"), &s, table), SOTTO_OK);
    assert_string_equal(t.model, "mlp");
    assert_true(t.hidden_count == 1 && t.hidden[0] == 3 && t.epochs == SOTTO_NONE && t.batch == 0 &&
                t.lr == 0.5);
    assert_int_equal(sotto_option_set(&s, sotto_option_find(table, "hidden"), "0"), SOTTO_OK);
    assert_int_equal(options_change(&h, sotto_option_table("head_recipe"), &s, table), SOTTO_OK);
    assert_int_equal(h.hidden_count, 0);
    assert_int_equal(
        sotto_option_set(&h, sotto_option_find(sotto_option_table("head_recipe"), "hidden"), "0"),
        SOTTO_EINVAL);                   /* the range of that list has no 0 */
    s.hidden_count = SOTTO_TRAIN_HIDDEN; /* one more than a head has */
    assert_int_equal(options_change(&h, sotto_option_table("head_recipe"), &s, table), SOTTO_EINVAL);
    assert_int_equal(h.hidden_count, 0);
}

/* A head by {0} is the head by the defaults, and its recipe makes it again. */
TEST(a_recipe_makes_its_head_again)
{
    enum { N = 40, D = 3, K = 2 };
    static float x[N * D];
    static int64_t y[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = (int64_t)(i % K);
        for (size_t j = 0; j < D; j++)
            x[i * D + j] = (float)((i * 7 + j * 3) % 11) / 11 + (float)(i % K);
    }
    const struct sotto_head_recipe recipes[] = {
        {0},
        {.seed = SOTTO_SEED_ZERO},
        {.trainer = "convex", .bias = SOTTO_ZERO},
        {.trainer = "convex-sgd", .seed = SOTTO_SEED_ZERO, .epochs = 3}};
    char hash[sizeof recipes / sizeof *recipes][65];
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        struct sotto_head *h, *again;
        assert_int_equal(sotto_head_train(&h, x, y, N, D, K, &recipes[i], NULL), SOTTO_OK);
        assert_int_equal(sotto_head_train(&again, x, y, N, D, K, sotto_head_get_recipe(h), NULL), SOTTO_OK);
        assert_string_equal(sotto_head_recipe_hash(again), sotto_head_recipe_hash(h));
        size_t n, m;
        const float *a = sotto_head_parameters(h, &n), *b = sotto_head_parameters(again, &m);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n * sizeof *a);
        strcpy(hash[i], sotto_head_recipe_hash(h));
        sotto_head_free(h);
        sotto_head_free(again);
    }
    assert_string_not_equal(hash[0], hash[1]); /* seeds 1 and 0 */
    struct sotto_head *filled;
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    assert_int_equal(sotto_head_train(&filled, x, y, N, D, K, &r, NULL), SOTTO_OK);
    assert_string_equal(sotto_head_recipe_hash(filled), hash[0]);
    sotto_head_free(filled);
}
