/* certificate_facts.h - what the pages about a certificate are made of; they share it, and say the same. */
#ifndef REPORT_CERTIFICATE_CERTIFICATE_FACTS_H
#define REPORT_CERTIFICATE_CERTIFICATE_FACTS_H

#include "io/array/tensors.h"
#include "io/json/json.h"
#include "report/page/page.h"
#include "sotto/verify.h"

enum { CURVE_POINTS = 24, VERDICT_TEXT = 768 };
/** Beyond this epsilon nobody is protected who is a likely target. */
#define MEANINGLESS_EPSILON 20.0

/** What every certificate of sotto says to a registry, and what none can say. */
#define CARD_TRUST "central: the curator sees the records, and whoever gets the release does not"
#define CARD_RENEWAL "never: what was spent stays spent"
#define CARD_ANSWERS                                                                                         \
    "answered here: epsilon and delta, unit of privacy, neighbouring data, mechanism, sensitivity, "         \
    "accounting, "                                                                                           \
    "budget over several releases, what is public"
#define CARD_OPEN                                                                                            \
    "not answered here: how the records were collected, who had access to them, side channels, fairness to " \
    "small "                                                                                                 \
    "groups"

/** What follows from the profile of a release that verifies. NAN: nothing is known. */
struct strength {
    double mu, failure;         /* of Gaussian differential privacy; mu INFINITY: none is known */
    double found[3];            /* largest true-positive rates at false-positive rates of .001, .01, .1 */
    double curve[CURVE_POINTS]; /* the same at the squares of 1/24, 2/24, ... */
    double reconstruction;      /* of the prior that was asked for */
};
/** Texts are borrowed from the documents. */
struct facts {
    struct sotto_verification v;
    struct json *certificate, *ledger; /* ledger: as shown; NULL: none is at hand */
    struct json *audit;                /* NULL: none is at hand */
    const struct json *classes;        /* the accuracy by class of the audit, or NULL */
    struct sotto_tensors released;     /* metadata; empty where the file is none of ours */
    struct strength strength;
    double prior; /* 0: none was given */
};

/** Verifies, and reads all of it; `prior` is the caller's. facts_close() after OK, EGATE and EUNDECIDED. Returns: as sotto_verify(). */
sotto_status facts_open(struct facts *f, const char *file, const char *ledger,
                        const struct sotto_context *ctx);
void facts_close(struct facts *f);
/** audit: file of schema sotto.audit/1; NULL: none. Returns: EFORMAT  it has no accuracy by class */
sotto_status facts_add_audit(struct facts *f, const char *audit);
/** "" and NAN where there is no such member. */
const char *text_of(const struct json *j, const char *path);
double number_of(const struct json *j, const char *path);
/** The last that a budget of the ledger names as its `member`; "": none. */
const char *officer_said(const struct json *ledger, const char *member);
/** Of a fine-tuned network whose encoder was certified on the same records, so that what it costs is added: its words; "": else. */
const char *certified_encoder(const struct facts *f);
/** Is the unit of privacy a person, not a record? */
bool is_of_persons(const struct facts *f);
/** No check failed, and all were decided. */
bool is_verified(const struct sotto_verification *v);
/** Noise from a seed, or an epsilon that protects nobody. */
bool is_meaningless(const struct sotto_verification *v);
/** What was released, for people: "Classifier on features". */
const char *release_words(char out[128], const struct facts *f);
/** What the certificate says, in a sentence, and what it says to somebody who fears to be found. */
const char *verdict_of(char out[VERDICT_TEXT], const struct sotto_verification *v);
const char *meaning_for_people(char out[VERDICT_TEXT], const struct facts *f);
/** The first sheet of the page: what, of whom, by whom, how strong, what was checked, what is signed. */
void front_put(struct page *p, const struct facts *f);

#endif
