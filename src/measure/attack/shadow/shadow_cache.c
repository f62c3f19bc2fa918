#include "attack/shadow/shadow_cache.h"

#include "attack/shadow/shadow_split.h"
#include "base/cpu.h"
#include "base/file.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char *isa_name(void)
{
    return cpu_isa_name(cpu_best_isa());
}

void shadow_cache_key(char key[SHA256_HEX], const struct shadow_identity *id)
{
    char text[SHADOW_RECIPE + 512];
    struct sha256 hash;
    int length = snprintf(text, sizeof text, "sotto shadow 1\n%s\n%s\n%s\n%s\n%zu\n", id->data_sha256,
                          id->recipe, id->shape, isa_name(), id->n);
    sha256_init(&hash);
    sha256_update(&hash, text, (size_t)length);
    sha256_update(&hash, id->use, id->n);
    sha256_hex(&hash, key);
}

/* The records as digits 0 (unused), 1 (in) and 2 (out), one a record. */
static char *keep_row(const struct shadow_identity *id)
{
    char *row = base_alloc(id->n + 1, 1);
    for (size_t i = 0; row && i < id->n; i++)
        row[i] = (char)('0' + id->use[i]);
    return row;
}

static sotto_status shadow_cache_manifest(struct json **out, const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    char key[SHA256_HEX];
    char *row = keep_row(id);
    if (!row)
        FAIL(SOTTO_ENOMEM, "shadow cache: out of memory for %zu records", id->n);
    shadow_cache_key(key, id);
    struct json *j = json_make_object();
    json_put_text(&j, "schema", "sotto.shadow/1");
    json_put_text(&j, "key", key);
    json_put_text(&j, "data_fingerprint", id->data_sha256);
    json_put_text(&j, "recipe", id->recipe);
    json_put_text(&j, "shape", id->shape);
    json_put_text(&j, "isa", isa_name());
    json_put_integer(&j, "split_seed", (int64_t)id->split_seed);
    json_put_text(&j, "keep", row);
    *out = j;
done:
    base_free(row);
    return status;
}

static sotto_status shadow_cache_paths(char weights[SHADOW_PATH], char facts[SHADOW_PATH], const char *folder,
                                       const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    char key[SHA256_HEX], name[48];
    shadow_cache_key(key, id);
    snprintf(name, sizeof name, "%.32s.safetensors", key);
    TRY(path_join(weights, SHADOW_PATH, folder, name));
    snprintf(name, sizeof name, "%.32s.json", key);
    TRY(path_join(facts, SHADOW_PATH, folder, name));
done:
    return status;
}

static sotto_status check_manifest(const struct json *doc, const struct json *expected, const char *path)
{
    sotto_status status = SOTTO_OK;
    static const char *const members[] = {"schema", "key", "data_fingerprint", "recipe", "shape",
                                          "isa",    "keep"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *text;
        TRY(json_get_text(&text, doc, path, members[i]));
        if (strcmp(text, json_text(json_member(expected, members[i]))) != 0)
            FAIL(SOTTO_EFORMAT, "%s: '%s' does not match the name of the file; remove the file", path,
                 members[i]);
    }
done:
    return status;
}

sotto_status shadow_cache_find(bool *found, struct shadow_facts *facts, char weights[SHADOW_PATH],
                               const char *folder, const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    char path[SHADOW_PATH], hash[SHA256_HEX];
    const char *recorded;
    struct json *doc = NULL, *expected = NULL;
    struct shadow_facts f;
    TRY(shadow_cache_paths(weights, path, folder, id));
    *found = file_exists(path) && file_exists(weights);
    if (!*found)
        goto done;
    TRY(json_read_file(&doc, path));
    TRY(shadow_cache_manifest(&expected, id));
    TRY(check_manifest(doc, expected, path));
    TRY(json_get_text(&recorded, doc, path, "weights_sha256"));
    TRY(json_get_real(&f.train_accuracy, doc, path, "train_accuracy"));
    TRY(json_get_real_or_null(&f.test_accuracy, doc, path, "test_accuracy"));
    f.seconds = json_number(json_member(doc, "seconds")); /* of 0.2.0 and later */
    TRY(sha256_file(hash, weights));
    if (strcmp(hash, recorded) != 0)
        FAIL(SOTTO_EFORMAT, "%s: its SHA-256 differs from the one in %s; remove both files", weights, path);
    *facts = f;
done:
    json_free(doc);
    json_free(expected);
    return status;
}

sotto_status shadow_cache_path(char weights[SHADOW_PATH], const char *folder,
                               const struct shadow_identity *id)
{
    char facts[SHADOW_PATH];
    return shadow_cache_paths(weights, facts, folder, id);
}

bool shadow_cache_has(const char *folder, const struct shadow_identity *id)
{
    char weights[SHADOW_PATH], path[SHADOW_PATH];
    return shadow_cache_paths(weights, path, folder, id) == SOTTO_OK && file_exists(path) &&
           file_exists(weights);
}

sotto_status shadow_cache_cost(double *seconds, double *bytes, const char *folder,
                               const struct shadow_identity *id)
{
    sotto_status status = SOTTO_OK;
    char weights[SHADOW_PATH], path[SHADOW_PATH];
    struct json *doc = NULL;
    struct stat one, two;
    TRY(shadow_cache_paths(weights, path, folder, id));
    TRY(json_read_file(&doc, path));
    *seconds = json_number(json_member(doc, "seconds"));
    *bytes =
        stat(weights, &one) == 0 && stat(path, &two) == 0 ? (double)one.st_size + (double)two.st_size : NAN;
done:
    json_free(doc);
    return status;
}

sotto_status shadow_cache_add(const char *folder, const struct shadow_identity *id,
                              const struct shadow_facts *facts, const void *bytes, size_t size)
{
    sotto_status status = SOTTO_OK;
    char weights[SHADOW_PATH], path[SHADOW_PATH], hash[SHA256_HEX];
    struct json *doc = NULL;
    TRY(shadow_cache_paths(weights, path, folder, id));
    TRY(file_write_once(weights, bytes, size));
    TRY(sha256_file(hash, weights)); /* of the file that is there */
    TRY(shadow_cache_manifest(&doc, id));
    json_put_text(&doc, "weights_sha256", hash);
    json_put_real(&doc, "train_accuracy", facts->train_accuracy);
    json_put_real(&doc, "test_accuracy", facts->test_accuracy);
    json_put_real(&doc, "seconds", facts->seconds);
    TRY(json_write_once(path, doc, JSON_PRETTY));
done:
    json_free(doc);
    return status;
}
