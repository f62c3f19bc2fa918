/* src/core/par/team_same.c: ranks that were started with another text are refused on all ranks, with the lowest of them by name. Threads
 * stand for ranks; texts only, so no dtype and no instruction set matters. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "sotto/private/team.h"

#include <string.h>

enum { RANKS = 4, COMPARED = 100 };

/* What each rank says, and which one the error names; 0: none. */
struct texts {
    const char *of[RANKS];
    size_t named;
};

static const char *compare(const struct sotto_team *team, void *state)
{
    const struct texts *t = state;
    const sotto_status status = sotto_team_same(team, "the verb", t->of[sotto_team_rank(team)]);
    char expected[512];
    if (status != (t->named ? SOTTO_EUSAGE : SOTTO_OK))
        return "another status";
    snprintf(expected, sizeof expected,
             "rank %zu (%s): the verb is %.100s, but %.100s on rank 0; start all ranks with the same command",
             t->named, team_host(team), t->of[t->named], t->of[0]);
    if (t->named && strcmp(sotto_error_text(), expected) != 0)
        return "another text";
    /* the ranks have not lost each other: the next call compares anew */
    return sotto_team_same(team, "the verb", "train") == SOTTO_OK ? NULL
                                                                  : "it goes on with what was said before";
}

static void expect(const char *a, const char *b, const char *c, const char *d, size_t named)
{
    struct texts t = {{a, b, c, d}, named};
    simulated_ranks(RANKS, 0, compare, &t);
}

TEST(equal_texts_pass)
{
    expect("train", "train", "train", "train", 0);
    expect("", "", "", "", 0);
}

TEST(the_lowest_rank_with_another_text_is_named)
{
    expect("train", "pretrain", "train", "train", 1);
    expect("train", "train", "pretrain", "train", 2);
    expect("train", "train", "train", "pretrain", 3);
    expect("train", "train", "pretrain", "embed", 2);
    expect("pretrain", "train", "train", "train", 1); /* rank 0 is what others are compared with */
}

TEST(beginnings_and_signs_of_formats_are_texts)
{
    expect("train", "train", "train", "train --quiet", 3);
    expect("train", "trai", "train", "train", 1);
    expect("train", "train", "", "train", 2);
    expect("100%s", "100%s", "100%d%n", "100%s", 2);
}

TEST(the_first_hundred_bytes_are_compared)
{
    char a[2 * COMPARED] = "", behind[2 * COMPARED] = "", within[2 * COMPARED] = "";
    memset(a, 'a', sizeof a - 1);
    strcpy(behind, a), strcpy(within, a);
    behind[COMPARED] = 'b';
    within[COMPARED - 1] = 'b';
    expect(a, a, behind, a, 0);
    expect(a, a, within, a, 2);
}

static const char *lose_the_others(const struct sotto_team *team, void *state)
{
    (void)state;
    return sotto_team_same(team, "the verb", "train") == SOTTO_EIO ? NULL : "the transport has failed";
}

TEST(a_failed_transport_is_an_error_on_all_ranks)
{
    simulated_ranks(RANKS, 1, lose_the_others, NULL); /* the first gather is that of the start */
    simulated_ranks(RANKS, 2, lose_the_others, NULL); /* the second that of the agreement before the texts */
}

TEST(alone_nothing_is_compared)
{
    struct texts t = {{"train"}, 0};
    assert_int_equal(sotto_team_same(NULL, "the verb", "train"), SOTTO_OK);
    simulated_ranks(1, 0, compare, &t);
}
