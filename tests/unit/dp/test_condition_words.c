/* dp/certificate: every condition that the program writes, as the sentences that a page, a report and a signature speak of. A reader
 * has read the golden file line by line. */
#include "support/test.h"

#include "base/file.h"
#include "base/memory.h"
#include "dp/certificate/condition_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const conditions[] = {
    "the sensitivity stated by the caller",
    "the sampled sensitivity",
    "the sensitivity, which was NOT re-derived",
    "that a person has at most 3 rows, as stated by the caller",
    "the encoding of the table was fitted on these records, which no epsilon here accounts for; it holds if "
    "the encoding had been fixed without looking at them",
    "float sums that one record moves by at most C in a step (measured, not proved)",
    "what its file says of recipe and records (an early version binds its weights to neither)",
    "the encoder: its own certificate adds epsilon 2 at delta 1e-05 for the same records (see fine_tuning)",
    "the encoder e.safetensors does not depend on these records",
    "the moments m.npz do not depend on these records",
    "the loci do not depend on these records",
    "all else that shaped the columns not depending on these records either",
    "clipping, which was read from the private data",
    "that a record's gradient does not depend on others",
    "a wish",
};
enum { CONDITIONS = sizeof conditions / sizeof *conditions };

static char made[1 << 14];

static void put_sentences(const char *text)
{
    char sentence[CONDITION_SENTENCE];
    size_t used = strlen(made);
    used += (size_t)snprintf(made + used, sizeof made - used, "%s\n", text);
    while (condition_next(sentence, &text))
        used += (size_t)snprintf(made + used, sizeof made - used, "    %s\n", sentence);
}

TEST(each_condition_is_a_sentence)
{
    char all[2048] = "";
    unsigned char *golden = NULL;
    size_t size;
    made[0] = '\0';
    for (int i = 0; i < CONDITIONS; i++) {
        put_sentences(conditions[i]);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", and on " : "", conditions[i]);
    }
    put_sentences(all);
    assert_int_equal(file_read(&golden, &size, SOTTO_TEST_DIR "/golden/conditions.txt", 1 << 20), SOTTO_OK);
    if (strcmp(made, (char *)golden) != 0) {
        fputs(made, stderr);
        fail_msg("tests/golden/conditions.txt should read as above");
    }
    base_free(golden);
}

/* What ends like a sentence begins like one. */
TEST(sentences_begin_and_end)
{
    for (int i = 0; i < CONDITIONS; i++) {
        char sentence[CONDITION_SENTENCE];
        const char *text = conditions[i];
        assert_true(condition_next(sentence, &text));
        assert_in_range(sentence[0], 'A', 'Z');
        assert_int_equal(sentence[strlen(sentence) - 1], '.');
        assert_false(condition_next(sentence, &text));
    }
    char sentence[CONDITION_SENTENCE];
    const char *none = NULL, *empty = "";
    assert_false(condition_next(sentence, &none));
    assert_false(condition_next(sentence, &empty));
}

/* The longest text that a certificate may have is cut nowhere. */
TEST(the_longest_condition)
{
    char text[CONDITION_TEXT], sentence[CONDITION_SENTENCE];
    const char *rest = text;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_true(condition_next(sentence, &rest));
    assert_non_null(strstr(sentence, text));
    assert_int_equal(sentence[strlen(sentence) - 1], '.');
}
