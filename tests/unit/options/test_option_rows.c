/* Every option of the program stands in a table of the library, or is one of the program's own, which its verb lists; and an
 * experiment's keys are those same options. */
#include "support/test.h"

#include "options/options_private.h"
#include "run/config/config_members.h"
#include "run/config/run_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name) extern const struct verb verb_##name;
#include "verbs/verb_list.h"
#undef ROW
static const struct verb *const verbs[] = {
#define ROW(name) &verb_##name,
#include "verbs/verb_list.h"
#undef ROW
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* What no call of the library takes: how the program speaks, files that it opens or writes, and which call it makes. A verb names its own. */
static const char *const every_verb =
    "json|threads|progress|color|quiet|alone|time-left|help|output|force|arrays|labels-from|"
    "data|indices|split|fresh|title";

static const struct option_row *find(const struct option_rows *rows, const char *name, size_t length)
{
    for (size_t i = 0; i < rows->count; i++)
        if (strlen(rows->row[i].name) == length && strncmp(rows->row[i].name, name, length) == 0)
            return &rows->row[i];
    return NULL;
}

TEST(every_option_stands_in_a_table)
{
    static struct option_rows rows;
    size_t unknown = 0, of_tables = 0;
    for (size_t v = 0; v < VERBS; v++) {
        char owns[512];
        int used = snprintf(owns, sizeof owns, "%s", verbs[v]->own ? verbs[v]->own : "");
        const struct verb_part *part;
        for (size_t i = 0; (part = verb_part_of(verbs[v]->name, i)); i++)
            if (part->own)
                used += snprintf(owns + used, sizeof owns - (size_t)used, "%s%s", used ? "|" : "", part->own);
        assert_true(used < (int)sizeof owns);
        const char *list = owns, *word;
        option_rows_of(&rows, verbs[v]);
        for (size_t i = 0; i < rows.count; i++) {
            const char *name = rows.row[i].name;
            of_tables += rows.row[i].member != NULL;
            if (rows.row[i].member && rows.row[i].fallback) /* no verb has a default of its own */
                assert_ptr_equal(rows.row[i].fallback, rows.row[i].member->value);
            if (rows.row[i].member || option_listed(every_verb, name, strlen(name)) ||
                option_listed(list, name, strlen(name)))
                continue;
            print_error("sotto %s --%s: no table of the library states it\n", verbs[v]->name, name);
            unknown++;
        }
        print_message("%s, the program's own: %s\n", verbs[v]->name, list);
        for (size_t n; (n = option_word(&word, &list));) { /* none that is gone, or has a table by now */
            const struct option_row *row = find(&rows, word, n);
            assert_true(row && !row->member);
        }
    }
    assert_int_equal(unknown, 0);
    assert_true(of_tables > 300);
}

/* Names of a list "data|epsilon" that are options of the verb. */
static size_t count_options(const struct option_rows *rows, const struct verb *verb, const char *list)
{
    size_t count = 0;
    const char *word;
    for (size_t n; (n = option_word(&word, &list)); count++)
        if (!find(rows, word, n))
            fail_msg("sotto %s has no --%.*s for its short help", verb->name, (int)n, word);
    return count;
}

TEST(a_short_help_has_at_most_fifteen_options_and_all_exist)
{
    enum { MOST = 15 };
    static struct option_rows rows;
    for (size_t v = 0; v < VERBS; v++) {
        const struct subcommand *s = verb_subcommand_at(verbs[v], 0);
        option_rows_of(&rows, verbs[v]);
        const size_t own = count_options(&rows, verbs[v], verbs[v]->most_used);
        assert_true(own <= MOST && (own > 0 || s));
        for (size_t i = 0; (s = verb_subcommand_at(verbs[v], i)); i++) {
            const size_t count = count_options(&rows, verbs[v], s->most_used);
            if (count == 0 || count > MOST)
                fail_msg("sotto %s %s: %zu options in its short help", verbs[v]->name, s->name, count);
        }
    }
}

/* NULL: it is none, as in "sotto --version". */
static const struct verb *verb_of(const char *name)
{
    for (size_t v = 0; v < VERBS; v++)
        if (strcmp(verbs[v]->name, name) == 0)
            return verbs[v];
    return NULL;
}

/* Options in one line "  sotto VERB ...", which goes on to the newline; what stands in quotes or behind -- is of another program. */
static size_t check_example(const char *example)
{
    static struct option_rows rows;
    char line[512], *rest = NULL, quote = 0;
    size_t count = 0, length = strcspn(example, "\n");
    assert_true(length < sizeof line);
    for (size_t i = 0; i < length; i++) {
        const char c = example[i];
        line[i] = quote ? '_' : c;
        quote = !quote && (c == '\'' || c == '"') ? c : c == quote ? 0 : quote;
    }
    line[length] = 0;
    assert_string_equal(strtok_r(line, " ", &rest), "sotto");
    const struct verb *verb = verb_of(strtok_r(NULL, " ", &rest));
    if (!verb)
        return 0;
    option_rows_of(&rows, verb);
    for (const char *word; (word = strtok_r(NULL, " ", &rest)) && strcmp(word, "--") != 0;) {
        if (strncmp(word, "--", 2) != 0)
            continue;
        if (!find(&rows, word + 2, strlen(word + 2)))
            fail_msg("%.*s: sotto %s has no %s", (int)length, example, verb->name, word);
        count++;
    }
    return count;
}

static size_t check_examples(const char *examples)
{
    size_t checked = 0;
    for (; *examples; examples += *examples == '\n') {
        checked += check_example(examples);
        examples += strcspn(examples, "\n");
    }
    return checked;
}

TEST(examples_of_help_name_options_that_exist)
{
    size_t checked = 0;
    const struct verb_part *part;
    for (size_t v = 0; v < VERBS; v++) {
        checked += check_examples(verbs[v]->examples);
        for (size_t i = 0; (part = verb_part_of(verbs[v]->name, i)); i++)
            checked += check_examples(part->examples ? part->examples : "");
    }
    assert_true(checked > 150);
}

/* Sections of an experiment that are structs, and the verbs that take the same structs. */
enum { TABLES = 6 };
static const struct {
    const char *section;
    struct {
        const char *verb;
        const char *table;
    } of[TABLES];
} sections[] = {{"pretrain.", {{"pretrain", "pretrain"}}},
                {"head.", {{"head", "head_recipe"}}},
                {"protect[].canaries.", {{"head", "canary"}}},
                {"protect[].",
                 {{"protect", "protect"},
                  {"protect", "release"},
                  {"protect", "spend"},
                  {"head", "head_recipe"},
                  {"train", "train_privacy"},
                  {"train", "train"}}},
                {"report.", {{"audit", "audit"}}}};

static const struct option_row *option_of(const char *verb, const struct sotto_option *member)
{
    static struct option_rows rows;
    for (size_t v = 0; v < VERBS; v++)
        if (strcmp(verbs[v]->name, verb) == 0)
            option_rows_of(&rows, verbs[v]);
    const struct option_row *row = find(&rows, member->name, strlen(member->name));
    return row && row->member == member ? row : NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether a section holds the key. */
static bool check_key(const struct config_row *key, const char *path)
{
    for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
        size_t length = strlen(sections[s].section);
        const struct sotto_option *member = NULL;
        const char *verb = NULL;
        if (strncmp(path, sections[s].section, length) != 0)
            continue;
        for (size_t t = 0; t < TABLES && sections[s].of[t].table && !member; t++) {
            member = sotto_option_find(sotto_option_table(sections[s].of[t].table), path + length);
            verb = sections[s].of[t].verb;
        }
        if (!member)
            fail_msg("%s is no member of the struct", path);
        if (!option_of(verb, member))
            fail_msg("%s: sotto %s has no --%s", path, verb, member->name);
        if (!strstr(path, ".trainer") && strcmp(path, "protect[].mechanism") != 0) { /* fewer names */
            assert_true(same_text(key->help, member->help));
            assert_true(same_text(key->names ? key->names : key->range, member->range));
        }
        return true;
    }
    return false;
}

TEST(keys_of_an_experiment_are_options)
{
    static struct config_rows rows;
    size_t checked = 0;
    run_config_rows(&rows);
    for (size_t i = 0; i < rows.count; i++) {
        const char *path = rows.row[i].path;
        path += strncmp(path, "cases[].", 8) == 0 ? 8 : 0;
        if (strcmp(path, "head.fine_tune") != 0 && strcmp(path, "protect[].canaries.guesses") != 0 &&
            strcmp(path, "protect[].canaries.access") != 0) /* which call the run makes, and with what */
            checked += check_key(&rows.row[i], path);
    }
    assert_true(checked > 45);
}

/* One text, through the program's option and through the experiment's key, sets the member to the same value. */
TEST(a_key_and_its_option_read_the_same)
{
    static struct run_config c;
    static struct options o;
    struct sotto_head_recipe r = {0};
    struct sotto_spend spend = {0};
    char *resolved = NULL;
    char *words[] = {
        "--hidden",         "64,32", "--lr", "0.25", "--bias-constant", "0.5", "--read-from-data", "clip",
        "--read-from-data", "l2"};
    static const char text[] =
        "name: x\n"
        "head: {hidden: [64, 32], lr: 0.25, bias: 0.5}\n"
        "protect: [{mechanism: laplace, scale: 1, l1: 1, read_from_data: [clip, l2]}]\n"
        "report: {fpr: [0.5, 0.25]}\n";
    assert_int_equal(run_config_read(&c, &resolved, NULL, text, "x.yaml", NULL), SOTTO_OK);
    sotto_text_free(resolved);
    assert_int_equal(options_parse(&o, &verb_head, sizeof words / sizeof *words, words), SOTTO_OK);
    assert_int_equal(option_members(&r, sotto_option_table("head_recipe"), &o), SOTTO_OK);
    assert_int_equal(option_members(&spend, sotto_option_table("spend"), &o), SOTTO_OK);
    const struct sotto_head_recipe *read = &c.cases[0].recipe;
    assert_true(r.hidden_count == 2 && read->hidden_count == 2 && r.hidden[1] == read->hidden[1]);
    assert_true(r.lr == read->lr && r.bias == read->bias && read->bias == 0.5);
    const char *const *names = c.cases[0].protections[0].release.spend.read_from_data;
    for (int i = 0; i < 2; i++)
        assert_string_equal(names[i], spend.read_from_data[i]);
    assert_true(!names[2] && !spend.read_from_data[2]);
    assert_true(c.rate_count == 2 && c.rates[1] == 0.25);
    options_clear(&o);
    char *audit[] = {"--fpr", "0.5,0.25"}, *bad[] = {"--fpr", "0.5,1"};
    double rates[2];
    size_t n;
    assert_int_equal(options_parse(&o, &verb_audit, 2, audit), SOTTO_OK);
    assert_int_equal(option_reals(rates, 2, &n, &o, "fpr"), SOTTO_OK);
    assert_true(n == 2 && rates[0] == c.rates[0] && rates[1] == c.rates[1]);
    assert_int_equal(options_parse(&o, &verb_audit, 2, bad), SOTTO_OK);
    assert_int_equal(option_reals(rates, 2, &n, &o, "fpr"), SOTTO_EUSAGE);
    assert_string_equal(cli_error_text(), "--fpr must be above 0 and below 1 (got 1)");
}
