/* ledger_line.h - the lines of a ledger: what an entry says, written and read. The hash chain works on bytes
 * (ledger.c). */
#ifndef DP_LEDGER_LINE_LEDGER_LINE_H
#define DP_LEDGER_LINE_LEDGER_LINE_H

#include "dp/dpsgd/dpsgd_reservations.h"
#include "dp/columns/columns_json.h"
#include "dp/account/events.h"

struct json;

/* ---- lines to write: JSON objects in one line, to which ledger_append() adds their place in the chain ---- */

/** Every event that a ledger may hold. */
enum ledger_event {
    LEDGER_RELEASE,
    LEDGER_RESERVE,
    LEDGER_IMPORT,
    LEDGER_BUDGET,
    LEDGER_TORN,
    LEDGER_RECORDS,
    LEDGER_MOVED,
    LEDGER_RELEASED,
    LEDGER_SETTLED,
    LEDGER_PLAN,   /* many releases, charged as one before the first of them */
    LEDGER_PLANNED /* one of them: nothing more is charged */
};
const char *ledger_event_name(enum ledger_event event);
/** Whether it costs privacy. */
bool ledger_event_charges(enum ledger_event event);
/** What a line that does so is completed with: its number among them, counted from 0. Lines of early versions lack it. */
#define LEDGER_CHARGE_NUMBER "charge"

/** A release, a reservation or an import, whatever it is charged to. Texts: NULL for none. */
struct charge_entry {
    enum ledger_event event;
    const char *dataset_id, *purpose, *condition;
    size_t records;                  /* 0: unknown */
    const struct privacy_unit *unit; /* NULL: one record */
    const struct sotto_sensitivity *sensitivity;
    const struct sotto_account *account;
    const char *sampler, *randomness;
    const struct sotto_source_records *source; /* set by charge_enter(); NULL: unknown */
    const struct admission *admission;         /* to the columns of the ledger; set by charge_enter() */
    /* a release: */
    size_t dimension;
    const char *input_sha256, *input_nonce;
    /* lines of the same charge behind this one, which are written with it or not at all */
    size_t followed_by;
    /* a reservation; its condition is that of the facts: */
    const char *run;
    const struct dpsgd_facts *facts;
    size_t steps, first_step;
    /* an import: */
    const struct sotto_event *imported;
    const char *file_sha256;
    /* a plan: */
    const struct event_list *plan;
    /* a release or a run of a plan, which is a release or a reservation in all else: */
    const struct plan_slot *slot;
};
/** Where a release is in a plan. */
struct plan_slot {
    const char *plan; /* the hash of its line */
    size_t charge;    /* its number among the charges */
    size_t slot;      /* from 1 */
};
/** A run was stopped by a limit of time that was set before it began, and showed nothing: its last reservation costs the steps
 * that were taken. */
struct ledger_settlement {
    const char *run, *entry; /* the hash of the reservation's line, in the same ledger */
    size_t steps;            /* taken, at least 1 */
};
/** A budget. NULL: none. */
struct budget_entry {
    struct sotto_dp budget;
    const char *set_by;
    const struct sotto_ledger_card *card;
    const struct opened_columns *columns; /* fixed with it */
    size_t followed_by;                   /* lines of the charge that it came with */
};
/** Hashes of records: 16 hexadecimal digits each, under a key of 32. */
struct ledger_hashes {
    const char *dataset_id, *key, *hashes;
    size_t count;
};
/** A file that came out of a charge. Hashes are of the salt followed by the SHA-256 of the file, as hexadecimal text, so that
 * a line tells nothing to a reader who has neither file. */
struct ledger_output {
    size_t charge; /* its number */
    const char *salt, *output, *certificate;
};
/** A line without its place in the chain (sotto_text_free). ENOMEM. */
sotto_status charge_entry_encode(char **line, const struct charge_entry *e);
sotto_status ledger_hashes_encode(char **line, const struct ledger_hashes *h);
sotto_status ledger_budget_encode(char **line, const struct budget_entry *e);
sotto_status ledger_torn_encode(char **line, size_t bytes, const char *sha256);
sotto_status ledger_move_encode(char **line, const char *to);
sotto_status ledger_output_encode(char **line, const struct ledger_output *o);
/** account: of the steps that were taken; admission: of them, or NULL. */
sotto_status ledger_settlement_encode(char **line, const struct ledger_settlement *s,
                                      const struct sotto_account *account, const struct admission *admission);

/* ---- lines that are read ---- */

/** What accounts are made of. What is missing or of another kind is NULL, NAN (l1, l2, pure, rho, epsilon), 1
 * (steps) or 0. */
struct ledger_charge {
    const char *mechanism, *sampler, *adjacency, *source, *purpose, *dataset_id;
    enum sotto_norm clipping;
    enum sotto_sampling sampling;
    double l1, l2, scale, value_step, noise_multiplier, sample_rate;
    size_t dimension, steps;
    struct privacy_unit unit;         /* of the norms; of samples the unit that they are accounted for */
    double pure, rho, epsilon, delta; /* as recorded */
    double lower;                     /* end of epsilon; 0: nothing is said */
    bool conditional, inputs_only;    /* names a condition; protects inputs and counts on public labels */
    bool is_run, of_inputs;           /* steps of a run; a run of which adjacent sets differ in an input */
    bool seeded;                      /* its noise came from a seed: no guarantee */
    bool numbered;                    /* its number among the charges of the ledger: */
    size_t number;
    const struct event_list *plan; /* of a plan that was decoded: borrowed from its line; else NULL */
};
/** A line and its texts, until ledger_line_free(). */
struct ledger_line {
    struct json *document;
    const char *hash, *run, *mechanism, *time; /* NULL: none */
    enum ledger_event event;
    struct ledger_charge charge; /* release, reserve, import; settled: the numbers that count from here on */
    /* the same events; columns 0: of before there were columns. budget: what opens, if it does */
    struct admission admission;
    struct sotto_dp budget; /* budget, with: */
    bool by_officer;
    const char *contact, *to;            /* budget: NULL for none; moved */
    struct ledger_hashes hashes;         /* records */
    struct ledger_output output;         /* released */
    struct ledger_settlement settlement; /* settled */
    size_t followed_by;     /* release, budget: lines of the same charge; without them it counts nothing */
    struct event_list plan; /* plan, with the texts of the table of mechanisms; */
    size_t plan_room;       /* events that its memory has room for, whatever the line is */
    struct plan_slot slot;  /* planned */
};
/** JSON, and no more: hash, run, mechanism and time are filled in. name: for errors. EFORMAT, ENOMEM. */
sotto_status ledger_line_parse(struct ledger_line *out, const char *text, size_t size, const char *name);
/** The same in the memory of a line of before; {0}: none. It is {0} after a failure. */
sotto_status ledger_line_parse_again(struct ledger_line *line, const char *text, size_t size,
                                     const char *name);
/** Its place in the chain. EFORMAT: it has none. */
sotto_status ledger_line_place(const char **prev, int64_t *index, const struct ledger_line *line,
                               const char *name);
/** Whether it is of that event, of a line that was not decoded. */
bool ledger_line_is(const struct ledger_line *line, enum ledger_event event);
/** Whether it costs privacy, of a line that was not decoded. */
bool ledger_line_charges(const struct ledger_line *line);
/** A whole number >= 0. */
sotto_status ledger_line_index(size_t *index, const struct ledger_line *line, const char *name);
/** The number of the plan among the charges, of a release of one that was not decoded. EFORMAT. */
sotto_status ledger_line_plan_number(size_t *charge, const struct ledger_line *line, const char *name);
/** All that its event says. EFORMAT: an event or schema that is not known, or a member is missing, is of another
 * kind, or below 0. */
sotto_status ledger_line_decode(struct ledger_line *line, const char *name);
/** Harmless on {0}. */
void ledger_line_free(struct ledger_line *line);
/** The charge of any line, without a refusal. */
struct ledger_charge ledger_line_charge(const struct ledger_line *line);
/** Without ledger_line_decode(): *found, does it settle a reservation? EFORMAT. */
sotto_status ledger_line_settlement(bool *found, struct ledger_settlement *out,
                                    const struct ledger_line *line, const char *name);
/** EFORMAT. */
sotto_status ledger_line_hashes(struct ledger_hashes *out, const struct ledger_line *line, const char *name);
/** EFORMAT. */
sotto_status ledger_line_output(struct ledger_output *out, const struct ledger_line *line, const char *name);
/** The releases of a plan, of a line that was not decoded: into line->plan. EFORMAT, ENOMEM. */
sotto_status ledger_line_plan(struct ledger_line *line, const char *name);
/** A reservation of a run, or a run of a plan, but its index; facts: texts are borrowed. EFORMAT. */
sotto_status ledger_line_reservation(struct dpsgd_reservation *out, struct dpsgd_facts *facts, bool *seeded,
                                     const struct ledger_line *line, const char *name);
/** A release of labels. EFORMAT. */
sotto_status ledger_line_labels(struct run_labels *out, const struct ledger_line *line, const char *name);

#endif
