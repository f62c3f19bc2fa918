/* attack_facts.h - what an attack says of itself beside its scores: named numbers, texts and groups of them, in the order in
 * which they are added.
 *
 * Adding cannot fail: without memory, the whole list has no document, which facts_encode() reports. */
#ifndef ATTACK_ATTACK_FACTS_H
#define ATTACK_ATTACK_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct fact;
struct json;
/* Start with {0}. */
struct facts {
    struct fact *first, *last;
    bool out_of_memory;
};
/* Names are borrowed, texts are copied. Without facts (NULL) nothing is added. */
void fact_count(struct facts *f, const char *name, uint64_t x);
void fact_real(struct facts *f, const char *name, double x); /* NAN: not known */
void fact_flag(struct facts *f, const char *name, bool x);
void fact_text(struct facts *f, const char *name, const char *text);
/* Facts under one name, borrowed from f. Those of a list have no name (NULL). */
struct facts *fact_group(struct facts *f, const char *name);
struct facts *fact_list(struct facts *f, const char *name);
void facts_clear(struct facts *f);
/* An object; NULL: out of memory. */
struct json *facts_encode(const struct facts *f);

#endif
