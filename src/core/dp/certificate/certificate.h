/* certificate.h - what a release, or a run of private training, guarantees. Wording by the order of trust: only what
 * is proved is called proved; a sampled or merely stated sensitivity makes the guarantee conditional on it. */
#ifndef DP_CERTIFICATE_CERTIFICATE_H
#define DP_CERTIFICATE_CERTIFICATE_H

#include "dp/dpsgd/dpsgd_reservations.h"
#include "sotto/certificate.h"
#include "sotto/lab/compose.h"

/** Version 1 says nothing of records and conditions. */
#define CERTIFICATE_SCHEMA "sotto.certificate/2"
/** Of persons: a reader that knows records only must not take its epsilon for theirs. */
#define CERTIFICATE_PERSON_SCHEMA "sotto.certificate/3"

/** How its randomness reads; verification takes any text that begins with the first two words for the system's. */
#define CERTIFICATE_SYSTEM "operating system (getrandom, ChaCha20)"
#define CERTIFICATE_SEEDED "noise was seeded: no privacy guarantee"

/** How the line about the sampler reads, of a release of continuous noise or a run, and with flat doubts; each names a
 * lattice of its own. */
#define LATTICE_SAMPLER "exact: floor of the continuous law on a power-of-two lattice"
#define FLAT_SAMPLER                                                                                         \
    "exact, doubts flat: floor of the continuous law on a lattice; slow draws tell little about their size"
/** The lattice of a release in bits, as its sampler (NULL: unknown) tells: the ledger holds that line too. */
int certificate_lattice(const char *sampler);
/** How that of early releases begins that were not exact but paid for in delta, and how far they were from their law, for
 * each coordinate. */
#define FIXED_SAMPLER "fixed number of steps"
#define FIXED_DISTANCE 0x1p-110

/** "given", "sampled", "clipped", "proved". */
const char *sensitivity_source_name(enum sotto_sensitivity_source source);
/** The other way round; false: no such name. */
bool sensitivity_source_of(enum sotto_sensitivity_source *out, const char *name);
bool sensitivity_is_proved(enum sotto_sensitivity_source source);
/** One line for people: where such a sensitivity comes from. */
const char *sensitivity_statement(enum sotto_sensitivity_source source);

enum {
    CONDITION_TEXT = 512,
    STATEMENT_TEXT = 6 * CONDITION_TEXT + 768 + UNIT_TEXT, /* conditions are longer as sentences */
    SAMPLER_TEXT = 160,
    SHAPED_TEXT = 512
};
/** Everything a certificate says besides input, output, ledger and run. */
struct certificate_facts {
    const struct sotto_account *account;
    const struct sotto_sensitivity *sensitivity; /* as accounted, so with any enlargement by rounding */
    size_t dimension;
    bool seeded;
    const char *sampler;
    int lattice_exponent;            /* step 2^exponent */
    size_t records;                  /* of the private data set; 0: unknown */
    const struct privacy_unit *unit; /* NULL: one record */
    const char *condition;           /* NULL, or what epsilon rests on besides the sensitivity */
    const char *purpose;             /* NULL: none */
    const char *shaped_by;           /* NULL and "": nothing; else spend_state_shapings() */
};
/** What was given (NULL and "": nothing) and what the provenance of the records asks for, as one text; "": nothing.
 * EINVAL: too long to be read. */
sotto_status certificate_condition(char out[CONDITION_TEXT], const char *given,
                                   const struct sotto_provenance *p);

/** The lines for people. */
struct certificate_wording {
    char statement[STATEMENT_TEXT];
    char rests_on[CONDITION_TEXT + 64]; /* all that epsilon rests on without proof; "": nothing */
};
/** was: a statement that was read; NULL: none. It stays as it is where an earlier version wrote it of these facts: then conditions were
 * nouns, and still earlier epsilon was rounded to nearest, and so at times below its upper end. */
void certificate_word(struct certificate_wording *out, const struct certificate_facts *facts,
                      const char *was);

/** What only the certificate of a run has. */
struct certificate_run {
    struct dpsgd_facts facts; /* texts: of the table of mechanisms, and of the certificate */
    char label_entry[65];
    struct dpsgd_reservations reservations;
    size_t used;  /* steps, from the first one of the run */
    size_t ranks; /* processes that took the last reservation's steps together; 0, 1: one */
};
/** Of such runs: where the records of a step were drawn. */
#define CERTIFICATE_SAMPLING_BY "rank 0"
/** A query on a table, which turned each record into so many whole numbers (dp/release/statistic.h). */
struct certificate_query {
    char *text;
    size_t cells;
    int64_t mass;
    /* 0, or: */
    double choice_scale; /* one candidate was chosen for each cell, by scores with noise of this scale; */
    double
        block_scale; /* this cell and all others of that scale share the radius of their noise (dp/noise/cube.h) */
};
/** What was trained of a network that began as a pre-trained encoder. */
struct certificate_tuning {
    char encoder_sha256[65]; /* of its tensors */
    char encoder[256];       /* why nothing is charged for it: "public, by ..." */
    size_t trained, frozen;  /* weights; running statistics are not counted */
    char *tensors;           /* names of the trained ones, ", " between them */
    char standardise[256];   /* why nothing is charged for the map below the last layer; "": there is none */
    char standardise_sha256[65]; /* of the map's tensors */
};
struct sotto_certificate {
    char time[24], version[24]; /* of the sotto that made it */
    struct sotto_account account;
    struct sotto_sensitivity sensitivity;
    size_t dimension, records;
    struct privacy_unit unit;
    char unit_words[UNIT_TEXT];
    bool seeded;
    int lattice_exponent;
    char sampler[SAMPLER_TEXT], condition[CONDITION_TEXT];
    struct certificate_wording wording;
    char *purpose;               /* NULL: none */
    char shaped_by[SHAPED_TEXT]; /* "": nothing is known of */
    char *ledger;                /* that was charged; NULL: it was read from a document, which does not say */
    size_t entry;                /* its number among the charges of the ledger; */
    bool by_line;  /* of an early certificate: among all lines, some of which tell that records were new */
    char hash[65]; /* of that entry */
    char plan[65]; /* of a release of a plan, which was charged: the hash of its entry; */
    size_t slot;   /* and which of its releases, from 1; 0: none */
    char input_commitment[65];
    char output_sha256[65];      /* ""; or of the file that was written with it */
    char labels_sha256[65];      /* ""; or of the labels that were released with the records in that file */
    struct certificate_run *run; /* NULL: one release */
    size_t classes;              /* that a trainer was given; 0: it was given none */
    char classes_by[64];
    char statistic[32];                /* of the records that was released; "": none, or it is not known; */
    double low, high;                  /* its range; both 0: it has none */
    struct certificate_query *queries; /* (query_count) of the statistic "queries", owned */
    size_t query_count;
    struct certificate_tuning *tuning; /* NULL: all weights were trained, from first ones that were drawn */
};
/** All steps that a run was charged for, without a delta. */
struct sotto_sampled certificate_steps(const struct sotto_certificate *c);
/** Made before the ledger is charged: what is known only afterwards is filled in by certificate_enter() and needs
 * no memory. ENOMEM. */
sotto_status certificate_new(struct sotto_certificate **out, const struct certificate_facts *facts);
void certificate_enter(struct sotto_certificate *c, size_t entry, const char *hash);
/** The plan that was charged instead of the entry. */
void certificate_add_plan(struct sotto_certificate *c, const char *plan, size_t slot);
/** The ledger that is about to be charged. ENOMEM. */
sotto_status certificate_name_ledger(struct sotto_certificate *c, const char *path);
/** Adds a run; it is copied. ENOMEM. */
sotto_status certificate_add_run(struct sotto_certificate *c, const struct dpsgd_reservations *run,
                                 const struct dpsgd_facts *facts, size_t used);
/** How many classes a trainer was given, and by what (NULL: the caller). */
void certificate_add_classes(struct sotto_certificate *c, size_t count, const char *given_by);
/** Which statistic of the records was released, and of which range; low and high 0: of none. */
void certificate_add_statistic(struct sotto_certificate *c, const char *name, double low, double high);
/** The statistic of queries. */
#define CERTIFICATE_QUERIES "queries"
/** Which queries of a table were released; they are copied. ENOMEM. */
sotto_status certificate_add_queries(struct sotto_certificate *c, const struct certificate_query *queries,
                                     size_t count);
/** Adds what was trained; all but the encoder is that of `tuning`, and copied. EINVAL: a text is too long; ENOMEM. */
sotto_status certificate_add_tuning(struct sotto_certificate *c, const struct certificate_tuning *tuning,
                                    const char *encoder_sha256, const char *encoder);
/** The triple of what a certificate guarantees, its pure epsilon 0: mu of Gaussian differential privacy, "off by" failure in delta.
 * What the certificate rests on, it rests on. It says nothing of other releases.
 *
 *  In:      profile  of sotto_certificate_profile() for this certificate
 *  Out:     *out     mu INFINITY: no Gaussian is known to cover the profile
 *  Returns: EINVAL   noise from a seed
 *           ENOMEM */
sotto_status certificate_adaptive(struct sotto_adaptive *out, const struct sotto_certificate *certificate,
                                  const struct sotto_privacy_profile *profile);

#endif
