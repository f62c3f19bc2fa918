/* certificate.h - the JSON text beside every release. Wording by the order of trust: only what is proved is
 * called proved; a sampled or merely stated sensitivity makes the guarantee conditional on it. */
#ifndef DP_LEDGER_CERTIFICATE_H
#define DP_LEDGER_CERTIFICATE_H

#include "io/json/json.h"
#include "sotto/dp.h"

#include <stdbool.h>

/** Version 1 says nothing of records and conditions. */
#define CERTIFICATE_SCHEMA "sotto.certificate/2"

/** How the certificate's sampler reads that is not exact but paid for in delta. */
#define FIXED_SAMPLER "fixed number of steps"

/** "given", "sampled", "clipped", "proved". */
const char *sensitivity_source_name(enum sotto_sensitivity_source source);
/** The other way round; false: no such name. */
bool sensitivity_source_of(enum sotto_sensitivity_source *out, const char *name);
bool sensitivity_is_proved(enum sotto_sensitivity_source source);

/** {"l1":..,"l2":..,"source":..,"statement":..,"evidence":..} */
struct json *certificate_sensitivity(const struct sotto_sensitivity *s);
/** Adds epsilon, delta, accountant, pure_epsilon, zcdp_rho, bounds to *object. */
void certificate_put_account(struct json **object, const struct sotto_account *account);

/** Everything a certificate says besides input, output and ledger. */
struct certificate_facts {
    const struct sotto_account *account;
    const struct sotto_sensitivity *sensitivity; /* as accounted, so with any enlargement by rounding */
    size_t dimension;
    bool seeded;
    const char *sampler;
    int lattice_exponent;  /* step 2^exponent */
    size_t records;        /* of the private data set; 0: unknown */
    const char *condition; /* NULL, or what epsilon rests on besides the sensitivity */
};
enum { CONDITION_TEXT = 512 };
/** What was given (NULL and "": nothing) and what the provenance of the records asks for, as one text; "": nothing.
 * EINVAL: too long to be read. */
sotto_status certificate_condition(char out[CONDITION_TEXT], const char *given,
                                   const struct sotto_provenance *p);
/** Its part "guarantee": what is proved, what is conditional, and one line for people. */
struct json *certificate_guarantee(const struct certificate_facts *facts);
/** Adds "classes" to the text of a certificate, which is replaced: how many a trainer was given, and by what
 * (NULL: the caller). ENOMEM: it stays. */
sotto_status certificate_add_classes(char **certificate, size_t count, const char *given_by);
struct json *certificate_make(const struct certificate_facts *facts);

#endif
