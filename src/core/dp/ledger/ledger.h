/* ledger.h - what was released about one private data set: append-only JSON lines, hash-chained, fsynced.
 *
 * A line is {...,"prev":"<hash of the line before>","hash":"<SHA-256 of this line without its hash member>"}.
 * An entry is on disk before the noise it announces is drawn, so whatever was released is in the ledger; an
 * entry whose release then failed stays and is charged. Accountants read only ledgers. One process holds the
 * file at a time (ledger_lock.h). */
#ifndef DP_LEDGER_LEDGER_H
#define DP_LEDGER_LEDGER_H

#include "dp/account/event_part.h"
#include "dp/account/events.h"
#include "dp/columns/columns_json.h"
#include "dp/ledger/ledger_events.h"
#include "dp/ledger/ledger_lines.h"
#include "dp/ledger/ledger_lock.h"
#include "dp/ledger/ledger_records.h"

/** Releases that were charged as one (ledger_plan.h). */
struct ledger_plan {
    struct event_list events;
    size_t slots;
    unsigned char *spent; /* (slots) 1: by a release, whatever came of it */
    const char *dataset_id;
};
struct plan_block;
/** One charge as it counts. */
struct ledger_item {
    char hash[65];        /* of its line, of a reservation or a plan */
    char run[RUN_ID + 1]; /* of a reservation: its run, else "" */
    size_t steps;         /* of a reservation that may still be settled, else 0 */
    bool proved; /* sensitivity proved or enforced by clipping; else sampled, or stated by the caller */
    struct ledger_charged charged;
    double pure, rho, epsilon, delta;
    bool seeded;
    bool derived;               /* what its line recorded was derived again (ledger_recorded.h) */
    struct any_order any_order; /* what it took of the columns */
    struct ledger_plan *plan;   /* of a line of the ledger that is one; else NULL */
};
struct ledger;
struct ledger {
    struct ledger_lock lock; /* .fd: of the open file */
    char *path;
    size_t entries;
    bool unended; /* the last line lacks its newline */
    /* bytes at the end of a ledger that was read and not opened, which do not count: a process was killed while it wrote */
    size_t cut;
    size_t follows;              /* lines that the charge of the last one still wants */
    char *held;                  /* lines that wait for ledger_write_held(), (held_size); */
    size_t held_size, held_from; /* entries before them */
    bool holds;
    char last[65];             /* hash of the last line; 64 zeros when empty */
    struct ledger_item *items; /* (charges): what ledger_sums_of() adds up */
    size_t capacity;           /* of items */
    struct plan_block *plans;  /* memory of their plans */
    size_t size, at,
        second;      /* bytes that are read, and those in front of this line and of the second charge */
    size_t imported; /* entries of the conditional column that another program's account stated */
    size_t seeded;   /* releases with seeded noise: no guarantee at all */
    size_t charges;  /* entries that cost privacy; */
    double delta;    /* the largest that one of them recorded */
    struct privacy_unit unit; /* of the first of them: losses of other units do not add up to it */
    size_t inputs_only;       /* reservations that protect inputs and count on public labels */
    struct sotto_dp budget;   /* epsilon NAN: none recorded */
    struct sotto_dp recorded; /* the same, but for a budget that holds for one charge */
    bool waits;   /* this budget is not written yet: it came with a release, and is written with its charge */
    bool officer; /* the budget was set by 'sotto ledger init': no trainer may record another */
    struct opened_columns opened;    /* what holds for any order of choices; count 0: not opened yet */
    struct adaptive_columns columns; /* the same, with what was spent since */
    size_t columns_from;             /* charges before they were opened */
    struct adaptive_columns kept; /* the columns before the last charge that may be settled, or the first; */
    size_t kept_from;             /* charges before it */
    struct ledger_records records;
    struct part_memory known; /* of the lines that were read last */
    char *moved;              /* the file where this ledger goes on, or NULL */
    sotto_status (*visit)(void *state, const struct ledger *l,
                          const struct ledger_line *line); /* ledger_walk() */
    void *state;
};

/** No budget follows a smaller one. Of an epsilon NAN, which is none: it is not larger. */
static inline bool ledger_budget_is_larger(struct sotto_dp budget, struct sotto_dp before)
{
    return budget.epsilon > before.epsilon || budget.delta > before.delta;
}
/** Opens or creates (with folders, mode 0600), waits for the lock, checks the whole chain, sums. A torn last
 * line (a process died while writing it, so its noise was never drawn) is moved to PATH.torn and the move is
 * recorded, and so is a charge of which not all lines are there; a line that lacks nothing but its newline is kept and charged. EFORMAT: a line was changed, removed
 * or reordered, or is of an event or schema that is not known; no line is left (ledger_fresh.h). EAGAIN: as ledger_lock_open(). */
sotto_status ledger_open(struct ledger *l, const char *path, const struct sotto_context *ctx);
/** Read-only look at an existing ledger: no lock kept, nothing created or repaired. What ledger_open() would move aside is passed over
 * (l->cut). ENOENT. */
sotto_status ledger_read(struct ledger *l, const char *path);
/** For people: that a part was passed over, if one was. */
void ledger_warn_of_cut(const struct ledger *l, const struct sotto_context *ctx);
/** ledger_read(), with a look at every entry. */
sotto_status ledger_walk(struct ledger *l, const char *path,
                         sotto_status (*visit)(void *state, const struct ledger *l,
                                               const struct ledger_line *line),
                         void *state);
/** Did the whole line arrive? Then nothing but its newline is missing, and its noise may have been drawn. */
bool ledger_line_is_whole(const char *line, size_t length);
/** Completes a line of ledger_line.h (index, time, nonce, prev, hash), writes and fsyncs it. Updates the sums.
 * EBUDGET: the ledger was moved. */
sotto_status ledger_append(struct ledger *l, const char *line);
/** From here on lines are counted and not written, until ledger_write_held() writes all of them at once. What fails in between leaves the
 * file as it was; the ledger is then good for nothing but ledger_close(). */
void ledger_hold(struct ledger *l);
/** In one piece; a reader takes a charge of several lines whole or not at all. EIO. */
sotto_status ledger_write_held(struct ledger *l);
/** The same of a charge, which gets its number too. */
sotto_status ledger_append_charge(struct ledger *l, const char *line);
/** A charge as it counts, but for what it takes of the columns. known: of ledger_charge_event(). ENOMEM. */
sotto_status ledger_item_make(struct ledger_item *out, struct part_memory *known,
                              const struct ledger_charge *charge, bool imported);
/** How many charges count with an epsilon that was not derived again from their own facts (ledger_recorded.h). */
size_t ledger_as_recorded(const struct ledger *l);
/** The last reservation of a run; NULL: there is none. */
struct ledger_item *ledger_last_of_run(const struct ledger *l, const char *run);
/** What it costs at the numbers of fewer steps; any_order stays. */
void ledger_item_settle(struct ledger_item *item, const struct ledger_charge *settled);
/** Closes and unlocks; harmless on {0} with lock.fd -1. */
void ledger_close(struct ledger *l);

#endif
