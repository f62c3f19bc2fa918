/* What an attack says of itself: the order and kinds of its facts, and what is left of them without memory. */
#include <math.h>
#include "support/test.h"

#include "attack/attack_facts.h"
#include "base/memory.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

static void add_every_kind(struct facts *f)
{
    char name[] = "tom";
    fact_text(f, "name", name);
    name[0] = 'x'; /* texts are copied */
    fact_count(f, "records", 12);
    fact_real(f, "rate", 0.25);
    fact_real(f, "auc", NAN);
    fact_flag(f, "tuned", true);
    struct facts *list = fact_list(f, "made"), *group = fact_group(f, "decision");
    fact_count(list, NULL, 3);
    fact_real(group, "threshold", 1.5);
    fact_text(fact_group(list, NULL), "kind", "linear");
    fact_list(f, "failed");
    fact_count(f, "records", 13);
}

TEST(facts_stand_in_order)
{
    struct facts f = {0};
    char *text;
    add_every_kind(&f);
    struct json *doc = facts_encode(&f);
    assert_int_equal(json_dump(&text, doc, JSON_LINE), SOTTO_OK);
    assert_string_equal(text, "{\"name\":\"tom\",\"records\":13,\"rate\":0.25,\"auc\":null,\"tuned\":true,"
                              "\"made\":[3,{\"kind\":\"linear\"}],\"decision\":{\"threshold\":1.5},"
                              "\"failed\":[]}");
    sotto_text_free(text);
    json_free(doc);
    facts_clear(&f);
    assert_null(f.first);
}

/* A list that lacks one fact is not a shorter list. */
TEST(a_lost_fact_loses_the_document)
{
    for (long n = 0; n < 13; n++) {
        struct facts f = {0};
        base_alloc_fail_after(n);
        add_every_kind(&f);
        base_alloc_fail_after(-1);
        assert_null(facts_encode(&f));
        facts_clear(&f);
    }
}
