/* config_network.h - keys of a row of `protect` that trains a whole network by DP-SGD: those of a private head that a network
 * has too (hidden, epochs, batch, ...), and its own. */
#ifndef RUN_CONFIG_CONFIG_NETWORK_H
#define RUN_CONFIG_CONFIG_NETWORK_H

#include "io/yaml/yaml_config.h"
#include "run/config/config_members.h"
#include "run/config/run_config.h"

/** Appends the keys that heads do not have. */
void config_network_rows(struct config_rows *out, const char *prefix);
/** A row with `model` or `from`. section: "protect[1]." */
bool config_is_network(const struct config *c, const char *prefix, const char *section);
/** ECONFIG "protect[1].lambda <why>" for the first of the keys that is given. */
sotto_status config_refuse_keys(const struct config *c, const char *prefix, const char *section,
                                const char *const *keys, size_t count, const char *why);
/** The same for the keys of a network alone. */
sotto_status config_network_refuse(const struct config *c, const char *prefix, const char *section,
                                   const char *why);
struct config_network_place {
    const char *prefix, *section, *trainer;
    size_t records; /* of the case */
    uint64_t seed;
};
/** Reads the row and checks all that the file decides, as the training does later: before anything is computed. ECONFIG. */
sotto_status config_network_read(struct run_network *out, const struct config *c,
                                 const struct config_network_place *at);

#endif
