/* Attacks on models: every row of the list finds a planted leak and sees nothing between records that are
 * exchangeable; a missing input of an attack is named. */
#include "support/test.h"

#include "attack/query/record_overlap.h"
#include "attack/query_attack.h"
#include "attack/target/target.h"
#include "audit/measure/metrics.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/audit_text.h"
#include "support/head_blobs.h"
#include "support/temporary_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 80, POOL = 200, D = 8, K = 4 };
static float x[(3 * N + POOL) * D]; /* members, non-members, others, attacker */
static int64_t y[3 * N + POOL];
static const struct sotto_records member = {x, y, N}, nonmember = {x + N * D, y + N, N},
                                  third = {x + 2 * N * D, y + 2 * N, N},
                                  attacker = {x + 3 * N * D, y + 3 * N, POOL};

static int set_up(void **state)
{
    struct sotto_head_recipe r;
    struct sotto_head *h;
    if (make_folder(state))
        return -1;
    make_blobs(x, y, 3 * N + POOL, D, K, 2.5, 1);
    sotto_head_defaults(&r);
    r.hidden_count = 1;
    r.hidden[0] = 64;
    r.epochs = 80;
    r.batch = 16;
    r.lr = 5e-3;
    if (sotto_head_train(&h, x, y, N, D, K, &r, NULL) != SOTTO_OK ||
        sotto_head_save(path_of("target.safetensors"), h) != SOTTO_OK)
        return -1;
    sotto_head_free(h);
    return 0;
}

static struct sotto_attack_input input(const struct sotto_records *a, const struct sotto_records *b)
{
    struct sotto_attack_input in = {.member = *a,
                                    .nonmember = *b,
                                    .attacker = attacker,
                                    .other = attacker,
                                    .other_inputs = D,
                                    .other_classes = K};
    assert_int_equal(target_open_head(&in.target, path_of("target.safetensors")), SOTTO_OK);
    return in;
}

static struct sotto_attack_options options(const char *name)
{
    struct sotto_attack_options o;
    sotto_attack_defaults(&o);
    o.name = name;
    o.shadows = strncmp(name, "ml-leaks", 8) == 0 ? 1 : strcmp(name, "long") == 0 ? 24 : 8;
    o.synthetic_records = 80;
    return o;
}

static struct sotto_estimate area(const char *name, const struct sotto_records *a,
                                  const struct sotto_records *b, bool *decides)
{
    struct sotto_attack_input in = input(a, b);
    struct sotto_attack_options o = options(name);
    struct sotto_estimate e;
    struct json *doc;
    double scores[2 * N];
    char *text;
    int finished;
    assert_int_equal(attack_text(&text, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_true(finished);
    assert_int_equal(json_parse(&doc, text, strlen(text), "attack"), SOTTO_OK);
    assert_string_equal(json_text(json_find(doc, "attacks[0].name")), name);
    assert_string_equal(json_text(json_find(doc, "attacks[1].name")), "loss");
    assert_true(json_whole(json_find(doc, "model_attack.queries")) >= 2 * N);
    *decides = json_kind(json_find(doc, "model_attack.decision")) == JSON_KIND_OBJECT;
    double precision = json_number(json_find(doc, "model_attack.decision.precision.estimate"));
    assert_true(isnan(precision) || (precision >= 0 && precision <= 1));
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.999), SOTTO_OK);
    assert_true(e.estimate == json_number(json_find(doc, "attacks[0].auc.estimate")));
    json_free(doc);
    sotto_text_free(text);
    sotto_target_close(in.target);
    return e;
}

TEST(every_attack_finds_a_leak_and_no_other)
{
    for (size_t i = 0; query_attack_table[i]; i++) {
        const char *name = query_attack_table[i]->name;
        bool decides;
        if (query_attack_table[i]->needs &
            ~(unsigned)(QUERY_POSTERIORS | QUERY_LABELS | QUERY_ATTACKER | QUERY_SHADOWS | QUERY_OTHER |
                        QUERY_QUERIES | QUERY_HALVES))
            continue; /* has tests of its own */
        struct sotto_estimate leak = area(name, &member, &nonmember, &decides),
                              none = area(name, &nonmember, &third, &decides);
        if (!(leak.lower > 0.55))
            fail_msg("%s: area %g, lower end %g on a planted leak", name, leak.estimate, leak.lower);
        if (!(none.lower <= 0.5 && none.upper >= 0.5))
            fail_msg("%s: area %g [%g, %g] where there is no leak", name, none.estimate, none.lower,
                     none.upper);
        assert_int_equal(decides, strncmp(name, "lira", 4) != 0 && strncmp(name, "rmia", 4) != 0);
    }
}

/* A target of 80 records of 60 columns, clean or with one wrong copy of each record to judge among its own; the attacker
 * poisons its shadows alike. Between records that trained nothing, nothing is found either way. */
static struct sotto_estimate poisoned(size_t copies, bool leak)
{
    enum { WIDE = 60, ALL = 3 * N + POOL, MOST = N + 2 * N };
    static float wide[ALL * WIDE], px[MOST * WIDE];
    static int64_t label[ALL], py[MOST];
    make_blobs(wide, label, ALL, WIDE, K, 2, 5);
    const struct sotto_records side[4] = {{wide, label, N},
                                          {wide + N * WIDE, label + N, N},
                                          {wide + 2 * N * WIDE, label + 2 * N, N},
                                          {wide + 3 * N * WIDE, label + 3 * N, POOL}},
                               *a = &side[!leak], *b = &side[1 + !leak];
    size_t n = N;
    struct sotto_head_recipe r;
    struct sotto_head *h;
    struct sotto_attack_input in = {.member = *a, .nonmember = *b, .attacker = side[3]};
    struct sotto_attack_options o = options("lira");
    double scores[2 * N];
    struct sotto_audit_result result = {0};
    struct sotto_estimate e;
    int finished;
    memcpy(px, wide, sizeof *wide * N * WIDE), memcpy(py, label, sizeof *label * N);
    for (size_t c = 0; c < 2 * copies; c++, n += N) {
        const struct sotto_records *s = c % 2 ? b : a;
        memcpy(px + n * WIDE, s->x, sizeof *px * N * WIDE);
        for (size_t i = 0; i < N; i++)
            py[n + i] = sotto_poison_label(s->y[i], c % 2 * N + i, K);
    }
    sotto_head_defaults(&r);
    r.hidden_count = 1, r.hidden[0] = 64;
    r.epochs = 40, r.batch = 16, r.lr = 5e-3;
    assert_int_equal(sotto_head_train(&h, px, py, n, WIDE, K, &r, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save(path_of("poisoned.safetensors"), h), SOTTO_OK);
    sotto_head_free(h);
    assert_int_equal(target_open_head(&in.target, path_of("poisoned.safetensors")), SOTTO_OK);
    o.shadows = 16, o.poison = copies;
    assert_int_equal(sotto_attack(&result, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_true((strstr(result.attacks[0].title, "with 1 wrong copy of each record") != NULL) ==
                (copies == 1));
    sotto_audit_result_free(&result);
    sotto_target_close(in.target);
    assert_int_equal(estimate_auc(&e, scores, N, scores + N, N, 0.999), SOTTO_OK);
    return e;
}

TEST(poison_makes_records_easier_to_find)
{
    const struct sotto_estimate clean = poisoned(0, true), worst = poisoned(1, true),
                                none = poisoned(1, false);
    if (!(worst.lower > clean.upper))
        fail_msg("clean: %g [%g, %g]; poisoned: %g [%g, %g]", clean.estimate, clean.lower, clean.upper,
                 worst.estimate, worst.lower, worst.upper);
    assert_true(none.lower < .5 && none.upper > .5);
}

/* A member with a label that only those know who saw it is what shadows remember best, in whatever order it was asked about. */
TEST(shadows_tell_what_is_memorised)
{
    static int64_t odd[N];
    memcpy(odd, y, sizeof odd);
    odd[7] = (odd[7] + 2) % K;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        struct sotto_attack_input in = input(&member, &nonmember);
        struct sotto_attack_options o = options("lira");
        double scores[2 * N], others = 0;
        int finished;
        struct sotto_audit_result r = {0};
        in.member.y = odd;
        o.shadows = 16, o.shuffle = shuffle, o.audit.memorisation = 1, o.audit.include_indices = 1;
        assert_int_equal(sotto_attack(&r, scores, &finished, &in, &o, NULL), SOTTO_OK);
        const struct sotto_audit_memorisation *m = r.memorisation;
        assert_int_equal(m->judged, 2 * N);
        for (size_t i = 0; i < 2 * N; i++)
            others += (i != 7) * m->values[i] / (2 * N - 1);
        assert_true(m->values[7] > .85 && others < .7);
        assert_string_equal(r.attacks[0].name, "lira");
        sotto_audit_result_free(&r);
        o.name = "shokri";
        assert_int_equal(sotto_attack(&r, scores, &finished, &in, &o, NULL), SOTTO_EUSAGE);
        sotto_target_close(in.target);
    }
}

TEST(poison_is_for_online_attacks)
{
    struct sotto_attack_input in = input(&member, &nonmember);
    struct sotto_attack_options o = options("shokri");
    double scores[2 * N];
    int finished;
    struct sotto_audit_result r = {0};
    o.poison = 1;
    assert_int_equal(sotto_attack(&r, scores, &finished, &in, &o, NULL), SOTTO_EUSAGE);
    assert_string_equal(sotto_error_text(), "attack: shokri poisons nothing; poison is for lira and rmia");
    size_t count[K] = {0};
    for (size_t i = 0; i < 1000; i++)
        count[sotto_poison_label(2, i, K)]++;
    assert_true(count[2] == 0 && count[0] > 250 && count[1] > 250 && count[3] > 250);
    sotto_target_close(in.target);
}

static sotto_status attempt(const struct sotto_attack_input *in, const struct sotto_attack_options *o)
{
    double scores[2 * N];
    char *text = NULL;
    int finished;
    sotto_status status = attack_text(&text, scores, &finished, in, o, NULL);
    sotto_text_free(text);
    return status;
}

TEST(made_up_records_serve_too)
{
    for (int kind = 0; kind <= SOTTO_SHADOW_NOISY; kind++) {
        struct sotto_attack_input in = input(&member, &nonmember);
        struct sotto_attack_options o = options("shokri");
        o.data = (enum sotto_shadow_data)kind;
        o.shadows = 2;
        assert_int_equal(attempt(&in, &o), SOTTO_OK);
        in.attacker.n = 0;
        assert_int_equal(attempt(&in, &o), kind == SOTTO_SHADOW_SYNTHESIS ? SOTTO_OK : SOTTO_EUSAGE);
        sotto_target_close(in.target);
    }
}

TEST(shards_deliver_in_turn)
{
    struct sotto_attack_input in = input(&member, &nonmember);
    struct sotto_attack_options o = options("shokri");
    double scores[2] = {7, 7};
    char *text, cache[128];
    int finished = 1;
    snprintf(cache, sizeof cache, "%s", path_of("cache"));
    o.cache = cache;
    o.shadows = 4;
    o.shards = 2;
    assert_int_equal(attack_text(&text, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_false(finished);
    assert_true(scores[0] == 7);
    assert_non_null(strstr(text, "\"schema\":\"sotto.shadows/1\""));
    assert_non_null(strstr(text, "\"missing\":2"));
    sotto_text_free(text);
    o.shard = 1;
    assert_int_equal(attempt(&in, &o), SOTTO_OK);
    sotto_target_close(in.target);
}

TEST(what_is_missing_is_named)
{
    struct sotto_attack_input in = input(&member, &nonmember);
    struct sotto_attack_options o = options("shocking");
    assert_int_equal(attempt(&in, &o), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "attack 'shocking' is unknown; expected shokri, "));
    o = options("ml-leaks-2");
    in.other.n = 0;
    assert_int_equal(attempt(&in, &o), SOTTO_EUSAGE);
    assert_string_equal(sotto_error_text(),
                        "attack: ml-leaks-2 needs records of another data set; give other.x and other.y");
    o = options("shokri");
    struct sotto_head_recipe r;
    sotto_head_defaults(&r);
    o.recipe = &r;
    assert_int_equal(attempt(&in, &o), SOTTO_EUSAGE);
    assert_non_null(strstr(sotto_error_text(), "give mismatch to allow this"));
    o.mismatch = 1;
    assert_int_equal(attempt(&in, &o), SOTTO_OK);
    o = options("shokri");
    o.shadow_records = POOL;
    assert_int_equal(attempt(&in, &o), SOTTO_EINVAL);
    o = options("ml-leaks-3");
    sotto_target_set_budget(in.target, target_used(in.target) + 2 * N + 5);
    assert_int_equal(attempt(&in, &o), SOTTO_EBUDGET);
    sotto_target_set_budget(in.target, UINT64_MAX);
    in.member.n = 0;
    assert_int_equal(attempt(&in, &o), SOTTO_EINVAL);
    in.member = member;
    float bad[D] = {0, NAN};
    int64_t label = K;
    in.attacker = (struct sotto_records){bad, y, 1};
    assert_int_equal(attempt(&in, &o), SOTTO_EINVAL);
    assert_string_equal(sotto_error_text(),
                        "attacker's records: row 0, column 1 is not finite; features must be finite");
    in.attacker = (struct sotto_records){x, &label, 1};
    assert_int_equal(attempt(&in, &o), SOTTO_EINVAL);
    sotto_target_close(in.target);
}

TEST(overlap_is_counted_and_said)
{
    static const float a[] = {1, 2, 3, 4, 0, 1, 1, 2, 5, 6}, b[] = {5, 6, 7, 8, -0.0f, 1, 1, 2};
    size_t shared;
    assert_int_equal(record_overlap(&shared, a, 5, b, 4, 2), SOTTO_OK);
    assert_int_equal(shared, 4); /* (1, 2) twice, (0, 1), (5, 6) */
    assert_int_equal(record_overlap(&shared, a, 0, b, 4, 2), SOTTO_OK);
    assert_int_equal(shared, 0);
    assert_int_equal(record_overlap(&shared, a, 5, b, 0, 2), SOTTO_OK);
    assert_int_equal(shared, 0);
    struct sotto_attack_input in = input(&member, &nonmember);
    struct sotto_attack_options o = options("ml-leaks-1");
    double scores[2 * N];
    char *text;
    int finished;
    in.attacker = (struct sotto_records){x + (N - 3) * D, y + N - 3, 3 * N}; /* the last three members too */
    assert_int_equal(attack_text(&text, scores, &finished, &in, &o, NULL), SOTTO_OK);
    assert_non_null(strstr(text, "3 of the attacker's 240 records are also members"));
    sotto_text_free(text);
    sotto_target_close(in.target);
}

TEST(memory_may_run_out)
{
    static const char *const names[] = {"shokri", "ml-leaks-1", "ml-leaks-3", "lira"};
    for (size_t a = 0; a < sizeof names / sizeof *names; a++)
        for (long n = 0; n < 400; n = n < 40 ? n + 3 : n + 37) {
            struct sotto_attack_input in = input(&member, &nonmember);
            struct sotto_attack_options o = options(names[a]);
            struct sotto_head_recipe r;
            sotto_head_defaults(&r);
            r.hidden_count = 1;
            r.hidden[0] = 8;
            r.epochs = 1;
            o.recipe = &r;
            o.mismatch = 1;
            o.shadows = a == 3 ? 4 : 1;
            base_alloc_fail_after(n);
            sotto_status status = attempt(&in, &o);
            base_alloc_fail_after(-1);
            assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
            sotto_target_close(in.target);
        }
}

TEST_GROUP(.set_up = set_up, .tear_down = remove_folder, .tags = "matrix")
