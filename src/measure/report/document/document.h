/* document.h - a "sotto.report/1" document, checked once and then plain values (docs/FORMATS.md). */
#ifndef REPORT_DOCUMENT_DOCUMENT_H
#define REPORT_DOCUMENT_DOCUMENT_H

#include "base/memory.h"
#include "io/json/json.h"
#include "report/document/sweeps.h"
#include "sotto/lab/audit.h"

struct estimate {
    bool given;
    double value, lower, upper; /* lower and upper are NAN for a bare number */
    size_t n;                   /* 0: unknown */
};

struct draws {    /* a spread over noise draws */
    size_t count; /* 0: not given */
    double mean, lowest, highest;
};

struct guarantee {
    bool given, all_met;
    double lower, upper, delta; /* upper may be INFINITY */
    const char *accountant, *adjacency;
    const char *unit; /* of privacy; NULL: one record */
    const struct json *assumptions;
};

struct attack_result {
    const char *name, *title;
    struct estimate auc, balanced;
    double advantage, epsilon; /* epsilon: lower bound, NAN if none */
    size_t n_member, n_nonmember, scored_member, scored_nonmember;
    const struct json *rates, *refused, *roc, *histogram;
    double best_epsilon;    /* the largest of several bounds that share the error, NAN if absent */
    const char *best_bound; /* its name, or NULL */
};

struct report_row {
    const char *name, *title, *group, *mechanism; /* group, mechanism: NULL if absent */
    bool is_protected, evaluation, no_statement;  /* no_statement: private records trained the encoder */
    /* by a certificate from elsewhere: what the model was without its protection is not known */
    bool certified;
    size_t records;
    double parameters, scale, l1, l2; /* NAN if absent */
    const char *source, *source_note; /* where the sensitivity comes from; NULL if absent */
    size_t pairs;
    struct guarantee proved, conditional;
    bool proof_counts; /* finite, every assumption met, noise not seeded */
    bool proof_means;  /* ... and epsilon is small enough to mean something (docs/FORMATS.md) */
    const struct json *audit, *notes;
    double confidence;
    size_t attack_count, headline, /* index of the attack chosen beforehand ("loss", else the first) */
        closer;                    /* of the one that slices look at, else the headline */
    struct attack_result *attacks;
    const struct json *canaries;      /* an audit by canaries; NULL: none */
    bool canaries_contradict;         /* it rejects the certificate's curve */
    bool claimed, claim_contradicted; /* a claim of the caller's, tested here, proved nowhere */
    double claim_epsilon, claim_delta, claim_bound;
    const char *claim_attack, *claim_bound_name; /* NULL if none */
    const char *draws_attack;
    struct draws auc_draws, accuracy_draws;
    struct estimate accuracy, unprotected;
    double train_accuracy, chance;   /* NAN if absent */
    const struct json *classes;      /* accuracy of each, or NULL */
    struct sotto_audit_result found; /* what of `audit` its verdict looks at */
    struct sotto_audit_verdict leak; /* on it alone */
    enum sotto_verdict verdict;
    size_t strongest; /* attack that decides, or that with the highest AUC, if any */
    char verdict_text[512];
};

struct report {
    struct json *doc; /* owns every borrowed text */
    const char *title;
    bool insecure_noise, synthetic;
    size_t row_count;
    struct report_row *rows;
    struct sweeps sweeps;
};

/** EFORMAT names the member: "report.json: 'rows[2].proved' ...". Ends with every verdict decided. */
sotto_status report_read(struct report *out, const char *text, size_t size);
/** report_read() for a document in memory; takes ownership of it, also on failure. */
sotto_status report_take(struct report *out, struct json *doc);
void report_clear(struct report *r);

/* Optional parts; NULL or NAN if absent or null. */
const struct json *part(const struct json *j, const char *path);
const char *part_text(const struct json *j, const char *path);
double part_number(const struct json *j, const char *path);
/* Of a list of accuracies by class, each with n: their mean, which is balanced accuracy, and the share of the most frequent class. NAN:
 * there is no list. */
double part_balanced(const struct json *classes);
double part_majority(const struct json *classes);
bool part_flag(const struct json *j, const char *path); /* false if absent */

/* The document with the verdicts that the reader reached written in; NULL without memory. */
struct json *report_judged(const struct report *r);
/* The row whose verdict is the document's: the worst of the rows that might be released, or of all if none is
 * protected. */
size_t report_decisive_row(const struct report *r);
/* row->found, once the rest of the audit was read. ENOMEM. */
sotto_status row_take_numbers(struct report_row *row);
/* Decides r->verdict, text and the rest from the numbers alone. */
void row_judge(struct report_row *r);

#endif
