/* Every reservation is an entry of its own; those of one run carry its name. Reading them back from the
 * ledger, and not from what the run remembers, is what charges steps that were interrupted and forgotten. */
#include "dp/ledger/ledger_runs.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/mechanism/require.h"

#include <string.h>

static bool same_facts(const struct dpsgd_facts *a, const struct dpsgd_facts *b)
{
    return strcmp(a->mechanism, b->mechanism) == 0 && a->scale == b->scale &&
           a->max_grad_norm == b->max_grad_norm && a->sample_rate == b->sample_rate &&
           a->dimension == b->dimension && a->clipping == b->clipping && a->inputs_only == b->inputs_only &&
           a->sampling == b->sampling && a->unit.rows == b->unit.rows && a->unit.persons == b->unit.persons &&
           unit_adds_up(&a->unit, &b->unit) && a->label_scale == b->label_scale &&
           (a->label_scale == 0 || strcmp(a->label_entry, b->label_entry) == 0);
}

/* What paid for steps under a condition pays for none without it; the other way round is honest. */
static bool same_condition(const struct dpsgd_facts *entry, const struct dpsgd_facts *facts)
{
    return !entry->condition || (facts->condition && strcmp(entry->condition, facts->condition) == 0);
}

/* One line of the ledger, and its number; others than this run's reservations are passed over. */
static sotto_status take_line(struct dpsgd_reservations *run, const struct ledger_line *line, size_t charge,
                              int64_t last, const char *name, const struct dpsgd_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_facts found;
    struct dpsgd_reservation one;
    struct ledger_settlement s;
    bool seeded, settled;
    if (!line->run || strcmp(line->run, run->id) != 0)
        goto done;
    TRY(ledger_line_index(&one.entry, line, name));
    if (!run->by_line)
        one.entry = charge;
    if (ledger_line_is(line, LEDGER_PLANNED))
        TRY(ledger_line_plan_number(&one.entry, line, name));
    if ((int64_t)one.entry > last)
        goto done;
    TRY(ledger_line_settlement(&settled, &s, line, name));
    if (settled) {
        dpsgd_reservations_settle(run, s.entry, s.steps);
        goto done;
    }
    TRY(ledger_line_reservation(&one, &found, &seeded, line, name));
    REQUIRE(same_condition(&found, facts),
            "run %s: charge %zu of %s is conditional on '%s'; expected the same condition in every "
            "reservation of the run",
            run->id, one.entry, name, found.condition);
    REQUIRE(found.fast == facts->fast,
            "run %s: charge %zu of %s has fast noise, which was removed, so the run cannot go on; start a "
            "new run",
            run->id, one.entry, name);
    REQUIRE(same_facts(&found, facts),
            "run %s: charge %zu of %s has another mechanism, scale, norm, sampling, dimension, adjacency, "
            "unit of "
            "privacy or release of labels; expected the same in every reservation of the run",
            run->id, one.entry, name);
    run->seeded = run->seeded || seeded;
    TRY(dpsgd_reservations_make_room(run));
    dpsgd_facts_add_lattice(&found, run);
    run->lattice_exponent = found.lattice_exponent;
    run->on_lattice = found.on_lattice;
    dpsgd_reservations_add(run, &one);
done:
    return status;
}

sotto_status dpsgd_reservations_read(struct dpsgd_reservations *out, const char *ledger, const char *id,
                                     int64_t last, bool by_line, const struct dpsgd_facts *facts)
{
    sotto_status status = SOTTO_OK;
    struct dpsgd_reservations run = {.by_line = by_line};
    size_t charge = 0;
    const struct ledger_line *line;
    struct ledger_lines lines;
    memcpy(run.id, id, sizeof run.id);
    TRY(ledger_lines_open(&lines, ledger));
    TRY(ledger_lines_next(&line, &lines));
    while (line) {
        TRY(take_line(&run, line, charge, last, ledger, facts));
        charge += ledger_line_charges(line);
        TRY(ledger_lines_next(&line, &lines));
    }
    *out = run;
    run.items = NULL;
done:
    ledger_lines_close(&lines);
    dpsgd_reservations_free(&run);
    return status;
}

sotto_status run_labels_read(struct run_labels *out, const char *ledger, const char *hash)
{
    sotto_status status = SOTTO_OK;
    const struct ledger_line *line;
    struct ledger_lines lines;
    TRY(ledger_lines_open(&lines, ledger));
    TRY(ledger_lines_find(&line, &lines, hash));
    REQUIRE(
        line && line->mechanism && strcmp(line->mechanism, RUN_LABEL_MECHANISM) == 0,
        "%s contains no release of labels with the hash %.16s...; use the ledger in which it was recorded",
        ledger, hash);
    TRY(ledger_line_labels(out, line, ledger));
done:
    ledger_lines_close(&lines);
    return status;
}
