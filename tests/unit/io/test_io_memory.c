/* src/core/io under memory shortage: every allocation of ours and of jansson fails once; nothing crashes, nothing
 * leaks (run under ASan), outputs stay untouched, the status says so. */
#include "support/test.h"
#include "support/failing_jansson.h"
#include "io/table/csv.h"
#include "io/table/metric_log.h"
#include "io/yaml/yaml_config.h"
#include "sotto/private/io.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sotto-test-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails when a temporary file was left behind */
}

static sotto_status use_json(void)
{
    static const char text[] = "{\"schema\": \"x\", \"a\": [1, 2.5, {\"b\": \"c\\u00e9\"}], \"d\": null}";
    sotto_status status = SOTTO_OK;
    struct json *doc = json_make_object(), *parsed = NULL, *copy = NULL;
    char *out = NULL;
    double x;
    json_put_text(&doc, "bad \xff", "also \xff bad");
    json_put(&doc, "list", json_make_reals((const double[]){1, 2, 3}, 3));
    TRY(json_parse(&parsed, text, sizeof text - 1, "x.json"));
    TRY(json_get_real(&x, parsed, "x.json", "a[1]"));
    copy = json_clone(parsed);
    json_put(&doc, "copy", copy);
    TRY(json_dump(&out, doc, JSON_PRETTY | JSON_SORTED));
done:
    json_free(doc);
    json_free(parsed);
    sotto_text_free(out);
    return status;
}

static const struct config_row rows[] = {{"name", CONFIG_TEXT, .required = true},
                                         {"head.hidden", CONFIG_WHOLES, .fallback = "[512]"},
                                         {"protect[].epsilon", CONFIG_REAL, .fallback = NULL},
                                         {.path = NULL}};

static sotto_status use_yaml(void)
{
    static const char text[] = "name: x\nprotect: [{epsilon: 1}, {epsilon: 2}]\n";
    const char *const overrides[] = {"head.hidden=[1, 2]", "protect[2].epsilon=3", NULL};
    sotto_status status = SOTTO_OK;
    struct config *c = NULL;
    struct json *j = NULL;
    char *yaml = NULL, *json = NULL;
    TRY(config_read(&c, text, sizeof text - 1, "run.yaml", rows, overrides));
    TRY(config_dump(&yaml, c));
    j = config_json(c, "");
    TRY(json_dump(&json, j, JSON_LINE));
done:
    config_free(c);
    json_free(j);
    sotto_text_free(yaml);
    sotto_text_free(json);
    return status;
}

static sotto_status use_csv(void)
{
    static const char text[] = "a,b\n1,2\n3,4\n";
    sotto_status status = SOTTO_OK;
    struct csv c = {0};
    struct sotto_array a = {0};
    TRY(csv_parse(&c, text, sizeof text - 1, "x.csv", NULL));
    TRY(csv_to_array(&a, &c, 1));
done:
    csv_clear(&c);
    sotto_array_clear(&a);
    return status;
}

static sotto_status use_inspect(void)
{
    static const char *const names[] = {"f4.npy", "stored.npz", "numpy.safetensors"};
    sotto_status status = SOTTO_OK;
    char path[1024], *text = NULL;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/golden/known/formats/%s", SOTTO_TEST_DIR, names[i]);
        TRY(sotto_inspect(&text, path, NULL));
        sotto_text_free(text);
        text = NULL;
        TRY(sotto_inspect_text(&text, path, NULL));
        sotto_text_free(text);
        text = NULL;
    }
done:
    sotto_text_free(text);
    return status;
}

static sotto_status use_metrics(void)
{
    sotto_status status = SOTTO_OK;
    struct metric_log *m = NULL;
    char csv[128];
    snprintf(csv, sizeof csv, "%s", in_folder("m.csv"));
    TRY(metric_log_open(&m, in_folder("m.jsonl")));
    TRY(metric_log_write(m, 1, "train", "loss", 2.5, 0.5));
    TRY(metric_log_write(m, 2, "train", "loss", 2.25, 0.75));
    status = metric_log_close(m);
    m = NULL;
    TRY(status);
    TRY(metric_log_export(csv, in_folder("m.jsonl")));
done:
    if (m && metric_log_close(m) != SOTTO_OK)
        status = SOTTO_EIO;
    unlink(csv);
    unlink(in_folder("m.jsonl"));
    return status;
}

static void sweep(sotto_status (*use)(void), long least, bool jansson)
{
    sotto_status status = SOTTO_ENOMEM;
    long i = 0;
    for (; status != SOTTO_OK && i < 5000; i++) {
        if (jansson)
            jansson_left = i;
        else
            base_alloc_fail_after(i);
        status = use();
        jansson_left = -1;
        base_alloc_fail_after(-1);
        /* jansson's scanner reports a failed allocation inside a string as a syntax error; we cannot tell. */
        if (status != SOTTO_OK && status != SOTTO_ENOMEM && !(jansson && status == SOTTO_EFORMAT))
            fail_msg("allocation %ld: %s: %s", i, sotto_status_name(status), sotto_error_text());
    }
    assert_int_equal(status, SOTTO_OK);
    assert_true(i > least); /* it went through them one by one */
}

TEST(our_allocations_may_fail)
{
    sweep(use_json, 2, false);
    sweep(use_yaml, 30, false);
    sweep(use_csv, 4, false);
    sweep(use_inspect, 30, false);
    sweep(use_metrics, 5, false);
}

/* Numbers here have at most 16 characters: jansson 2.14 asserts in lex_unget_unsave when the buffer of a
 * longer one cannot grow. That is its bug, out of our reach without replacing its allocator for the whole
 * process. */
TEST(janssons_allocations_may_fail)
{
    json_set_alloc_funcs(jansson_malloc, free);
    sweep(use_json, 20, true);
    sweep(use_yaml, 10, true);
    sweep(use_inspect, 50, true);
    sweep(use_metrics, 10, true);
    json_set_alloc_funcs(malloc, free);
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
