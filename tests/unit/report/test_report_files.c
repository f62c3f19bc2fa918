/* MODEL_CARD.md and attacks.csv: every table line has the columns of the first, numbers are those of the
 * page, and hostile texts are neither Markdown, HTML nor formulas. */
#include "support/test.h"
#include "support/report_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/sotto-test-XXXXXX", card_path[64], table_path[64];

static int set_up(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(card_path, sizeof card_path, "%s/MODEL_CARD.md", folder);
    snprintf(table_path, sizeof table_path, "%s/attacks.csv", folder);
    return read_example(state);
}

static int tear_down(void **state)
{
    unlink(card_path);
    unlink(table_path);
    rmdir(folder);
    return free_example(state);
}

static sotto_status write_files(const char *to, const char *document)
{
    struct report r = {0};
    sotto_status status = report_read(&r, document, strlen(document));
    if (status == SOTTO_OK)
        status = report_write_files(to, &r);
    report_clear(&r);
    return status;
}

static char *written(const char *path, const char *document)
{
    unsigned char *text = NULL;
    size_t size;
    if (write_files(folder, document) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(file_read(&text, &size, path, 1 << 22), SOTTO_OK);
    return (char *)text;
}

/* Commas outside quotes. */
static size_t columns(const char *line)
{
    size_t n = 1;
    bool quoted = false;
    for (; *line && *line != '\n'; line++) {
        quoted ^= *line == '"';
        n += !quoted && *line == ',';
    }
    return n;
}

TEST(the_table_is_rectangular)
{
    struct json *doc = copy_of_example(), *bad = poisoned(doc, NULL);
    char *hostile = NULL;
    assert_int_equal(json_dump(&hostile, bad, JSON_LINE), SOTTO_OK);
    const char *documents[] = {example, hostile};
    for (int d = 0; d < 2; d++) {
        char *table = written(table_path, documents[d]);
        size_t lines = 0;
        for (char *line = table; *line; line = strchr(line, '\n') + 1, lines++)
            assert_int_equal(columns(line), 16);
        assert_true(lines > 10);
        base_free(table);
    }
    char *table = written(table_path, example), wanted[128];
    const struct json *attack = json_find(doc, "rows[0].measured.attacks[0]");
    snprintf(wanted, sizeof wanted, "\"%s\",%ld,%ld,%.9g,", json_text(json_member(attack, "name")),
             (long)json_number(json_member(attack, "n_member")),
             (long)json_number(json_member(attack, "n_nonmember")),
             json_number(json_find(attack, "auc.estimate")));
    assert_non_null(strstr(table, wanted));
    base_free(table);
    json_free(doc);
    json_free(bad);
    sotto_text_free(hostile);
}

TEST(formulas_are_texts)
{
    char *document = one_row(PLAIN_MLP, "name", "\"=HYPERLINK(\\\"http://x\\\")\"", NULL);
    char *table = written(table_path, document);
    assert_non_null(strstr(table, "\n\"'=HYPERLINK(\"\"http://x\"\")\","));
    base_free(table);
    sotto_text_free(document);
}

TEST(the_card_is_inert_and_says_what_is_missing)
{
    struct json *doc = copy_of_example(), *bad = poisoned(doc, NULL);
    char *hostile = NULL, *card = written(card_path, example);
    assert_non_null(strstr(card, "**Intended use:** to show what a report looks like\n"));
    assert_non_null(strstr(card, "**Contact:** (to be filled in)\n"));
    assert_non_null(strstr(card, "**Proved:** nothing\n"));
    assert_non_null(strstr(card, "**Proved:** epsilon at most "));
    base_free(card);
    assert_int_equal(json_dump(&hostile, bad, JSON_LINE), SOTTO_OK);
    card = written(card_path, hostile);
    assert_non_null(strstr(card, "alert\\(1\\)"));
    for (char *at = card; (at = strpbrk(at, "<`")) != NULL; at++)
        assert_true(at > card && at[-1] == '\\');
    assert_null(strstr(card, "\xe2\x80\xae"));
    base_free(card);
    json_free(doc);
    json_free(bad);
    sotto_text_free(hostile);
}

TEST(failures_are_named)
{
    assert_int_equal(write_files(folder, "{}"), SOTTO_EFORMAT);
    assert_int_not_equal(write_files("/dev/null/at/all", example), SOTTO_OK);
    for (long n = 0; n < 200; n += 7) {
        base_alloc_fail_after(n);
        sotto_status status = write_files(folder, example);
        base_alloc_fail_after(-1);
        assert_true(status == SOTTO_OK || status == SOTTO_ENOMEM);
    }
}

TEST_GROUP(.set_up = set_up, .tear_down = tear_down)
