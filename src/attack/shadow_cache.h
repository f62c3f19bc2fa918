/* shadow_cache.h - finished shadows on disk: KEY.safetensors, a head like any other, and its manifest
 * KEY.json.
 *
 * The key is the SHA-256 of everything that decides the weights: data, the shadow's records, recipe,
 * instruction set. The manifest repeats it in full and is written last, so a shadow is there whole or not at
 * all; one whose manifest says something else than its name is refused. */
#ifndef ATTACK_SHADOW_CACHE_H
#define ATTACK_SHADOW_CACHE_H

#include "base/sha256.h"
#include "head/head_model.h"

struct shadow_identity {
    const char *fingerprint; /* of the attacker's records */
    const uint8_t *use;      /* (n), of enum shadow_use */
    size_t n, inputs, classes;
    struct sotto_head_recipe recipe;
    const char *shape; /* "one": trained alone; "block": in shared batches */
    uint64_t split_seed;
};
struct shadow_facts {
    double train_accuracy, test_accuracy;
};
void shadow_cache_key(char key[SHA256_HEX], const struct shadow_identity *id);
/* *found false: not there. EFORMAT: there, but damaged or of another making. */
sotto_status shadow_cache_load(bool *found, struct sotto_head *into, struct shadow_facts *facts,
                               const char *folder, const struct shadow_identity *id);
sotto_status shadow_cache_save(const char *folder, const struct shadow_identity *id,
                               const struct sotto_head *h, const struct shadow_facts *facts);

#endif
