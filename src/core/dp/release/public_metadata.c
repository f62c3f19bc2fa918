/* A white list: what is not listed is dropped. */
#include "dp/release/public_metadata.h"
#include "base/memory.h"

#include <stdbool.h>
#include <string.h>

/* docs/FORMATS.md, "What a protected file says". */
static const char *const known[] = {"format",      "schema",      "model",   "input",          "classes",
                                    "class_names", "encoding",    "hidden",  "norm",           "residual",
                                    "recipe",      "recipe_hash", "records", "encoder_sha256", "isa",
                                    "threads",     "statement",   "release", "privacy"};

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i]) == 0)
            return true;
    return false;
}

void public_metadata_keep(struct sotto_tensors *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->metadata_count; i++) {
        char *key = t->metadata[2 * i], *value = t->metadata[2 * i + 1];
        if (!is_known(key)) {
            base_free(key);
            base_free(value);
            continue;
        }
        t->metadata[2 * kept] = key;
        t->metadata[2 * kept + 1] = value;
        kept++;
    }
    t->metadata_count = kept;
}
