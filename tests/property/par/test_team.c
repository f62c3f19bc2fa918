/* What ranks say to each other: all leave with the text of the lowest that failed; rows come to all; a transport that failed is
 * remembered. */
#include "support/test.h"
#include "support/simulated_ranks.h"
#include "base/status.h"

static sotto_status fail_alone(size_t rank)
{
    return status_fail(SOTTO_ENOENT, "no such file on rank %zu", rank);
}

/* state: a bit for each rank that fails. */
static const char *agree(const struct sotto_team *team, void *state)
{
    const unsigned failing = *(const unsigned *)state;
    const size_t rank = sotto_team_rank(team), size = sotto_team_size(team);
    const bool fails = failing >> rank & 1;
    char expected[256] = "";
    for (size_t r = size; r-- > 0;)
        if (failing >> r & 1)
            snprintf(expected, sizeof expected,
                     failing == (1u << size) - 1 ? "no such file on rank %zu"
                                                 : "rank %zu (%s): no such file on rank %zu",
                     r, team_host(team), r);
    if (failing == (1u << size) - 1)
        strcpy(expected, "no such file on rank 0");
    status_fail(SOTTO_EINVAL, "an old text");
    for (int again = 0; again < 2;
         again++) { /* the second time with what the first one said: it stays as it is */
        const sotto_status status = team_agree(team, again && failing ? SOTTO_ENOENT
                                                     : fails          ? fail_alone(rank)
                                                                      : SOTTO_OK);
        if (status != (failing ? SOTTO_ENOENT : SOTTO_OK))
            return "another status";
        if (failing && strcmp(sotto_error_text(), expected) != 0)
            return "another text";
    }
    return team_agree(team, SOTTO_OK) == SOTTO_OK ? NULL : "no agreement after a failure";
}

TEST(all_leave_with_the_text_of_the_lowest)
{
    for (size_t ranks = 2; ranks <= 4; ranks++)
        for (unsigned failing = 0; failing < 1u << ranks; failing++)
            simulated_ranks(ranks, 0, agree, &failing);
}

/* state: a bit for each rank that says yes. */
static const char *ask(const struct sotto_team *team, void *state)
{
    const unsigned yes = *(const unsigned *)state;
    const size_t rank = sotto_team_rank(team);
    bool answer = yes >> rank & 1;
    if (team_agree_on(team, SOTTO_OK, &answer) != SOTTO_OK || answer != (yes & 1))
        return "not the answer of rank 0";
    answer = true;
    if (team_agree_on(team, rank == 1 ? fail_alone(rank) : SOTTO_OK, &answer) != SOTTO_ENOENT)
        return "a failure beside an answer is lost";
    return NULL;
}

TEST(rank_0_answers_for_all)
{
    bool alone = true;
    for (unsigned yes = 0; yes < 8; yes++)
        simulated_ranks(3, 0, ask, &yes);
    assert_int_equal(team_agree_on(NULL, SOTTO_OK, &alone), SOTTO_OK);
    assert_true(alone);
}

static const char *move_rows(const struct sotto_team *team, void *state)
{
    const size_t *firsts = state, ranks = sotto_team_size(team), rank = sotto_team_rank(team);
    int rows[64][3] = {{0}}, told = rank == 0 ? 42 : 0;
    for (size_t i = firsts[rank]; i < firsts[rank + 1]; i++)
        for (int k = 0; k < 3; k++)
            rows[i][k] = (int)(3 * i) + k;
    if (team_gather(team, rows, sizeof *rows, firsts) != SOTTO_OK ||
        team_broadcast(team, &told, sizeof told) != SOTTO_OK)
        return sotto_error_text();
    for (size_t i = 0; i < 3 * firsts[ranks]; i++)
        if (rows[i / 3][i % 3] != (int)i)
            return "another row";
    return told == 42 ? NULL : "another number";
}

TEST(rows_and_numbers_come_to_all)
{
    size_t uneven[] = {0, 3, 3, 4, 20}, one[] = {0, 5};
    simulated_ranks(4, 0, move_rows, uneven);
    simulated_ranks(1, 0, move_rows, one);
}

static const char *fail_late(const struct sotto_team *team, void *state)
{
    (void)state;
    char expected[256];
    int number = 0;
    snprintf(expected, sizeof expected, "rank %zu (%s): simulated: the cable is cut", sotto_team_rank(team),
             team_host(team));
    if (team_agree(team, SOTTO_OK) != SOTTO_OK)
        return "it failed too early";
    if (team_agree(team, SOTTO_OK) != SOTTO_EIO || strcmp(sotto_error_text(), expected) != 0)
        return "it did not fail";
    status_fail(SOTTO_EINVAL, "another text");
    if (team_broadcast(team, &number, sizeof number) != SOTTO_EIO ||
        strcmp(sotto_error_text(), expected) != 0)
        return "the failure was forgotten";
    return team_agree(team, fail_alone(0)) == SOTTO_EIO ? NULL : "the failure was forgotten";
}

TEST(a_failed_transport_is_remembered)
{
    simulated_ranks(3, 2, fail_late, NULL); /* the first is that of the start */
}

TEST(alone_nothing_is_exchanged)
{
    float rows[2] = {1, 2};
    assert_int_equal(sotto_team_size(NULL), 1);
    assert_int_equal(sotto_team_rank(NULL), 0);
    assert_int_equal(team_agree(NULL, SOTTO_EFORMAT), SOTTO_EFORMAT);
    assert_int_equal(team_gather(NULL, rows, sizeof *rows, (const size_t[]){0, 2}), SOTTO_OK);
    sotto_team_close(NULL);
}
