/* One small JSON file for each training that was measured, named by the hash of its key; the key stands in
 * the file too. Files appear whole (base/file.h), so several writers at once leave the last one's. */
#include "nn/loop/autotuner.h"

#include "base/cpu.h"
#include "base/cpu_model.h"
#include "base/file.h"
#include "io/json/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 2048 };
static const char schema[] = "sotto.autotune/1";

static const char *dtype_name(enum nn_dtype dtype)
{
    return dtype == NN_BF16 ? "bf16" : "f32";
}

/* "64,128" */
static void put_widths(char *out, size_t capacity, const size_t *width, size_t count)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < count && used < capacity; i++)
        used += (size_t)snprintf(out + used, capacity - used, "%s%zu", i ? "," : "", width[i]);
}

/* Lines key=value of whatever a step's time depends on. */
static sotto_status make_key(char key[KEY], const struct autotune_request *r)
{
    sotto_status status = SOTTO_OK;
    const struct nn_model_config *m = r->model;
    const struct nn_backend *backend;
    char cpu[CPU_MODEL], hidden[192], projector[96], adversary[96];
    TRY(nn_backend_find(&backend, "auto"));
    cpu_model(cpu);
    put_widths(hidden, sizeof hidden, m->hidden, m->hidden_count);
    put_widths(projector, sizeof projector, m->projector, m->projector_count);
    put_widths(adversary, sizeof adversary, m->adversary.hidden, m->adversary.hidden_count);
    int length = snprintf(
        key, KEY,
        "sotto=%s\ncpu=%s\nisa=%s\nbackend=%s\nthreads=%d\nnetwork=%s\ninput=%zux%zux%zu\nclasses=%zu\n"
        "hidden=%s\nprojector=%s\nnorm=%s\nnoise=%d%d\ninput_noise=%d\nradius=%d\nno_skip=%d\n"
        "members=%zu%s%s\nfrozen=%d,%zu,%d\nadversary=%s>%zu\nbatch=%zu\ndirection=%s\nviews=%zu\nasked=%s,%"
        "s\n",
        sotto_version(), cpu, cpu_isa_name(cpu_best_isa()), nn_backend_title(backend), r->threads, m->name,
        m->input.channels, m->input.height, m->input.width, m->classes, hidden, projector,
        m->norm ? m->norm : "", (int)m->noise.kind, m->noise.relative != 0, m->input_noise > 0, m->radius > 0,
        m->no_skip != 0, m->members, m->separate_inputs ? ",separate" : "",
        m->average_softmax ? ",softmax" : "", m->freeze.encoder != 0, m->freeze.blocks, m->freeze.norms != 0,
        adversary, m->adversary.values, r->batch, r->views ? "per-record gradients" : "train", r->views,
        r->backend ? r->backend : "auto", r->dtype ? r->dtype : "auto");
    REQUIRE(length > 0 && length < KEY, "autotune: the key is too long");
done:
    return status;
}

static sotto_status cache_folder(char *path, size_t capacity)
{
    sotto_status status = SOTTO_OK;
    const char *own = getenv("SOTTO_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length;
    if (own && own[0])
        length = snprintf(path, capacity, "%s/autotune", own);
    else if (cache && cache[0] == '/')
        length = snprintf(path, capacity, "%s/sotto/autotune", cache);
    else if (home && home[0])
        length = snprintf(path, capacity, "%s/.cache/sotto/autotune", home);
    else
        FAIL(SOTTO_ENOENT, "cache folder: none of SOTTO_CACHE_DIR, XDG_CACHE_HOME and HOME is set");
    REQUIRE(length > 0 && (size_t)length < capacity, "cache folder: path is too long");
done:
    return status;
}

sotto_status autotune_path(char *path, size_t capacity, const struct autotune_request *request)
{
    sotto_status status = SOTTO_OK;
    char folder[4096], key[KEY], hash[SHA256_HEX], name[48];
    TRY(cache_folder(folder, sizeof folder));
    TRY(make_key(key, request));
    sha256_of(hash, key, strlen(key));
    snprintf(name, sizeof name, "%.32s.json", hash);
    TRY(path_join(path, capacity, folder, name));
done:
    return status;
}

/* ---- reading ---- */

/* One entry, which must be a candidate that comes after *at. */
static sotto_status read_time(struct autotune_times *out, size_t *at, const struct json *entry,
                              const char *path, const struct autotune_times *known)
{
    sotto_status status = SOTTO_OK;
    const char *backend, *dtype;
    double seconds;
    TRY(json_get_text(&backend, entry, path, "backend"));
    TRY(json_get_text(&dtype, entry, path, "dtype"));
    TRY(json_get_real(&seconds, entry, path, "seconds"));
    for (; *at < known->count; ++*at)
        if (strcmp(known->candidate[*at].backend, backend) == 0 &&
            strcmp(dtype_name(known->candidate[*at].dtype), dtype) == 0)
            break;
    if (*at == known->count || !(isfinite(seconds) && seconds > 0))
        FAIL(SOTTO_EFORMAT, "%s: lists other candidates; expected those of this machine", path);
    out->candidate[out->count] = known->candidate[(*at)++];
    out->seconds[out->count++] = seconds;
done:
    return status;
}

static sotto_status read_times(struct autotune_times *out, const struct autotune_times *known,
                               const struct autotune_request *request)
{
    sotto_status status = SOTTO_OK;
    char path[4096], wanted[KEY];
    const char *found, *key;
    const struct json *list;
    struct json *doc = NULL;
    size_t at = 0;
    *out = (struct autotune_times){0};
    TRY(autotune_path(path, sizeof path, request));
    TRY(make_key(wanted, request));
    TRY(json_read_file(&doc, path));
    TRY(json_get_text(&found, doc, path, "schema"));
    TRY(json_get_text(&key, doc, path, "key"));
    TRY(json_get_array(&list, doc, path, "measured"));
    if (strcmp(found, schema) != 0 || strcmp(key, wanted) != 0 || json_count(list) == 0)
        FAIL(SOTTO_EFORMAT, "%s: does not match its name", path);
    for (size_t i = 0; i < json_count(list); i++)
        TRY(read_time(out, &at, json_at(list, i), path, known));
    if (out->candidate[0].backend != known->candidate[0].backend ||
        out->candidate[0].dtype != known->candidate[0].dtype)
        FAIL(SOTTO_EFORMAT, "%s: the first candidate is missing", path);
done:
    json_free(doc);
    return status;
}

bool autotune_recall(struct autotune_times *times, const struct autotune_request *request)
{
    struct autotune_times found;
    if (read_times(&found, times, request) != SOTTO_OK)
        return false;
    *times = found;
    return true;
}

/* ---- writing ---- */

static sotto_status write_times(const struct autotune_times *times, const struct autotune_request *request)
{
    sotto_status status = SOTTO_OK;
    char path[4096], key[KEY];
    struct json *doc = json_make_object(), *list = json_make_array();
    TRY(autotune_path(path, sizeof path, request));
    TRY(make_key(key, request));
    json_put_text(&doc, "schema", schema);
    json_put_text(&doc, "key", key);
    for (size_t i = 0; i < times->count; i++) {
        struct json *entry = json_make_object();
        json_put_text(&entry, "backend", times->candidate[i].backend);
        json_put_text(&entry, "dtype", dtype_name(times->candidate[i].dtype));
        json_put_real(&entry, "seconds", times->seconds[i]);
        json_push(&list, entry);
    }
    json_put(&doc, "measured", list);
    list = NULL;
    char *slash = strrchr(path, '/');
    *slash = '\0';
    TRY(folder_make(path));
    *slash = '/';
    TRY(json_write_file(path, doc, JSON_PRETTY));
done:
    json_free(doc);
    json_free(list);
    return status;
}

void autotune_remember(const struct autotune_times *times, const struct autotune_request *request)
{
    sotto_status status = write_times(times, request);
    (void)status; /* measured again next time */
}
