/* shadow_cache.h - finished shadows on disk: KEY.safetensors, a head or a network like any other, and its
 * manifest KEY.json.
 *
 * The key is the SHA-256 of everything that decides the weights: data, the shadow's records, recipe,
 * instruction set. The manifest repeats it in full and is written last, so a shadow is there whole or not at
 * all; one whose manifest says something else than its name is refused. */
#ifndef ATTACK_SHADOW_SHADOW_CACHE_H
#define ATTACK_SHADOW_SHADOW_CACHE_H

#include "base/memory.h"
#include "base/sha256.h"

enum { SHADOW_RECIPE = 2432, SHADOW_PATH = 4096 };

struct shadow_identity {
    const char *data_sha256; /* of the attacker's records */
    const uint8_t *use;      /* (n), of enum shadow_use */
    size_t n;
    char recipe[SHADOW_RECIPE]; /* canonical text */
    const char *shape; /* heads: "one": trained alone; "block": in shared batches; networks: the machine */
    uint64_t split_seed;
};
struct shadow_facts {
    double train_accuracy, test_accuracy;
    double seconds; /* that the training took on one thread or more; NAN: not known */
};
void shadow_cache_key(char key[SHA256_HEX], const struct shadow_identity *id);
/* *found false: not there. Else its facts, and the file of its weights, which are those that were saved.
 * EFORMAT: there, but damaged or of another making. */
sotto_status shadow_cache_find(bool *found, struct shadow_facts *facts, char weights[SHADOW_PATH],
                               const char *folder, const struct shadow_identity *id);
/* Is it there? Its files are not looked into. */
bool shadow_cache_has(const char *folder, const struct shadow_identity *id);
/* What a shadow that is there took: seconds (NAN: not known) and bytes on disk. EFORMAT. */
sotto_status shadow_cache_cost(double *seconds, double *bytes, const char *folder,
                               const struct shadow_identity *id);
/* Where the weights are. */
sotto_status shadow_cache_path(char weights[SHADOW_PATH], const char *folder,
                               const struct shadow_identity *id);
/* Puts a finished shadow into the cache, as the bytes of its file; one that is there is kept. */
sotto_status shadow_cache_add(const char *folder, const struct shadow_identity *id,
                              const struct shadow_facts *facts, const void *bytes, size_t size);

#endif
