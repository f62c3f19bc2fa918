/* forgery_desk.h - honest releases of four kinds, and what a forger does to copies of them. */
#ifndef TESTS_FORGERY_DESK_H
#define TESTS_FORGERY_DESK_H

#include "support/exercise.h"
#include "support/head_blobs.h"
#include "support/temporary_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "head/model/head_model.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "sotto/private/all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, D = 4, K = 2 };
static float x[N * D];
static int64_t y[N];

/* ---- what is forged: honest releases, each with its file, certificate and ledger ---- */

static inline void train_head(const char *path, const char *trainer)
{
    struct sotto_head_recipe r;
    struct sotto_head *h;
    sotto_head_defaults(&r);
    r.trainer = trainer;
    r.epochs = 3;
    if (strcmp(trainer, "convex") == 0) {
        r.lambda = 0.1;
        r.steps = 30;
    }
    if (sotto_head_train(&h, x, y, N, D, K, &r, NULL) != SOTTO_OK)
        fail_msg("%s", sotto_error_text());
    assert_int_equal(sotto_head_save(path, h), SOTTO_OK);
    sotto_head_free(h);
}

static inline struct sotto_protect protect_of(const char *input, const char *output, const char *ledger)
{
    return (struct sotto_protect){
        .input = input,
        .output = output,
        .release = {
            .mechanism = "gaussian",
            .scale = NAN,
            .target = {1, 1e-5},
            .sensitivity = {.l1 = NAN, .l2 = 0.5},
            .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"}}};
}

static inline sotto_status protect(struct sotto_protect *p)
{
    struct sotto_certificate *certificate = NULL;
    sotto_status status = sotto_protect_file(&certificate, p, NULL);
    sotto_certificate_free(certificate);
    return status;
}

/* A: a proof, by the convex trainer. */
static inline sotto_status protect_convex(const char *input, const char *output, const char *ledger,
                                          double epsilon)
{
    struct sotto_sensitivity_sample proof = {0};
    struct sotto_protect p = protect_of(input, output, ledger);
    p.release.target.epsilon = epsilon;
    sotto_status status = sotto_sensitivity_of_head(&p, &proof);
    return status == SOTTO_OK ? protect(&p) : status;
}

/* B: a measured sensitivity, of a head by Adam; or what a forger makes of it with the library. */
static inline void protect_adam(const char *output, const char *ledger, enum sotto_sensitivity_source source)
{
    struct sotto_protect p = protect_of(path_of("adam.safetensors"), output, ledger);
    struct sotto_head *h;
    assert_int_equal(sotto_head_load(&h, p.input), SOTTO_OK);
    p.release.sensitivity.source = source;
    strcpy(p.release.sensitivity.evidence, sotto_head_recipe_hash(h));
    sotto_head_free(h);
    assert_int_equal(protect(&p), SOTTO_OK);
}

/* C: a vector of unknown origin. */
static inline void protect_vector(const char *output, const char *ledger, double scale, double delta,
                                  enum sotto_sensitivity_source source)
{
    struct sotto_protect p = protect_of(path_of("v.npy"), output, ledger);
    p.release.scale = scale;
    p.release.target = (struct sotto_dp){NAN, delta};
    p.release.sensitivity.source = source;
    assert_int_equal(protect(&p), SOTTO_OK);
}

/* D: noise in every step. */
static inline void train_dp(const char *output, const char *ledger)
{
    struct sotto_head_recipe r;
    struct sotto_head *h;
    struct sotto_head_privacy p = {.target = {0.3, 1e-5},
                                   .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}};
    struct sotto_certificate *certificate;
    sotto_head_defaults(&r);
    r.trainer = "dp-sgd";
    r.epochs = 5;
    r.batch = 20;
    assert_int_equal(sotto_head_train_private(&h, &certificate, x, y, N, D, K, &r, &p, NULL), SOTTO_OK);
    assert_int_equal(sotto_head_save_private(output, h, certificate), SOTTO_OK);
    sotto_certificate_free(certificate);
    sotto_head_free(h);
}

static inline int make_bundles(void **state)
{
    if (make_folder(state))
        return -1;
    make_blobs(x, y, N, D, K, 0.7, 5);
    struct sotto_array v = {0};
    assert_int_equal(sotto_array_make(&v, SOTTO_F4, 1, &(size_t){3}), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path_of("v.npy"), &v), SOTTO_OK);
    sotto_array_clear(&v);
    train_head(path_of("convex.safetensors"), "convex");
    train_head(path_of("adam.safetensors"), "adam");
    assert_int_equal(
        protect_convex(path_of("convex.safetensors"), path_of("A.safetensors"), path_of("A.jsonl"), 1),
        SOTTO_OK);
    protect_adam(path_of("B.safetensors"), path_of("B.jsonl"), SOTTO_SENSITIVITY_SAMPLED);
    protect_vector(path_of("C.npy"), path_of("C.jsonl"), 2, 1e-5, SOTTO_SENSITIVITY_GIVEN);
    protect_vector(path_of("unused.npy"), path_of("C.jsonl"), 3, 1e-5, SOTTO_SENSITIVITY_GIVEN);
    train_dp(path_of("D.safetensors"), path_of("D.jsonl"));
    return 0;
}

/* ---- the forger's desk: copies that are changed ---- */

static char released[128], certificate[160], ledger[128];

static inline void run_shell(const char *format, const char *a, const char *b)
{
    char command[512];
    snprintf(command, sizeof command, format, a, b);
    assert_int_equal(system(command), 0);
}

static inline void lay_out(char bundle)
{
    char from[128];
    const char *end = bundle == 'C' ? ".npy" : ".safetensors";
    run_shell("rm -f '%s'/work.*%s", folder, "");
    snprintf(released, sizeof released, "%s/work%s", folder, end);
    snprintf(certificate, sizeof certificate, "%s.certificate.json", released);
    snprintf(ledger, sizeof ledger, "%s/work.jsonl", folder);
    snprintf(from, sizeof from, "%s/%c%s", folder, bundle, end);
    run_shell("cp '%s' '%s'", from, released);
    snprintf(from, sizeof from, "%s/%c%s.certificate.json", folder, bundle, end);
    run_shell("cp '%s' '%s'", from, certificate);
    snprintf(from, sizeof from, "%s/%c.jsonl", folder, bundle);
    run_shell("cp '%s' '%s'", from, ledger);
}

static inline char *text_of(const char *path)
{
    unsigned char *data;
    size_t size;
    assert_int_equal(file_read(&data, &size, path, 1 << 20), SOTTO_OK);
    char *text = strndup((char *)data, size);
    base_free(data);
    return text;
}

/* Every `from` becomes `to`; there must be one. */
static inline void exchange(const char *path, const char *from, const char *to)
{
    char *text = text_of(path), *at = strstr(text, from);
    if (!at)
        fail_msg("no %s in %s", from, text);
    while (at) {
        char *next = malloc(strlen(text) + strlen(to) + 1);
        size_t before = (size_t)(at - text);
        sprintf(next, "%.*s%s%s", (int)before, text, to, at + strlen(from));
        free(text);
        text = next;
        at = strstr(text + before + strlen(to), from);
    }
    assert_int_equal(overwrite(path, text, strlen(text)), 0);
    free(text);
}

static inline void edit(const char *from, const char *to)
{
    exchange(certificate, from, to);
}

static inline char *member(const char *path, const char *name)
{
    struct json *c;
    assert_int_equal(json_read_file(&c, path), SOTTO_OK);
    const char *text = json_text(json_find(c, name));
    if (!text)
        fail_msg("no text '%s' in %s", name, path);
    char *copy = strdup(text);
    json_free(c);
    return copy;
}

/* The certificate of another release, made to point at this one's entry and file. */
static inline void take_certificate(const char *other)
{
    static const char *const names[] = {"ledger.hash", "input_commitment", "output_sha256"};
    char *own[3];
    for (int i = 0; i < 3; i++)
        own[i] = member(certificate, names[i]);
    run_shell("cp '%s' '%s'", other, certificate);
    for (int i = 0; i < 3; i++) {
        char *theirs = member(certificate, names[i]);
        edit(theirs, own[i]);
        free(theirs);
        free(own[i]);
    }
}

static inline void match_output(void)
{
    char hash[SHA256_HEX], *old = member(certificate, "output_sha256");
    assert_int_equal(sha256_file(hash, released), SOTTO_OK);
    edit(old, hash);
    free(old);
}

/* Metadata of a file; NULL: taken away. */
static inline void set_metadata(const char *path, const char *key, const char *value)
{
    struct sotto_tensors t = {0}, out = {0};
    assert_int_equal(safetensors_load(&t, path), SOTTO_OK);
    for (size_t i = 0; i < t.count; i++) {
        struct sotto_array *a = &t.items[i].array;
        assert_int_equal(tensors_add(&out, t.items[i].name, a->dtype, a->ndim, a->shape, a->data), SOTTO_OK);
    }
    for (size_t i = 0; i < t.metadata_count; i++)
        if (strcmp(t.metadata[2 * i], key) != 0)
            assert_int_equal(tensors_set_metadata(&out, t.metadata[2 * i], t.metadata[2 * i + 1]), SOTTO_OK);
    if (value)
        assert_int_equal(tensors_set_metadata(&out, key, value), SOTTO_OK);
    const char *forged_file = path_of("forged.tmp"); /* a forger leaves the certificate where it is */
    assert_int_equal(safetensors_save(forged_file, &out), SOTTO_OK);
    assert_int_equal(rename(forged_file, path), 0);
    sotto_tensors_clear(&t);
    sotto_tensors_clear(&out);
}

/* Lines of the ledger with hashes and links made anew; the hash of the line that had `mine` goes into the
 * certificate if asked for. */
static inline void hash_again(int in_certificate)
{
    char *text = text_of(ledger), *mine = member(certificate, "ledger.hash"), out[1 << 15] = "", last[65];
    int index = 0;
    memset(last, '0', 64);
    last[64] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char body[8192], hash[SHA256_HEX], *prev, *tail = strstr(line, ",\"hash\":\"");
        bool own = strncmp(tail + 9, mine, 64) == 0;
        int before = (int)(strstr(line, ",\"index\":") - line);
        snprintf(body, sizeof body, "%.*s,\"index\":%d,%.*s}", before, line, index++,
                 (int)(tail - strstr(line, "\"time\":")), strstr(line, "\"time\":"));
        prev = strstr(body, "\"prev\":\"");
        assert_non_null(prev);
        memcpy(prev + 8, last, 64);
        sha256_of(hash, body, strlen(body));
        size_t used = strlen(out);
        snprintf(out + used, sizeof out - used, "%.*s,\"hash\":\"%s\"}\n", (int)strlen(body) - 1, body, hash);
        memcpy(last, hash, 65);
        if (own && in_certificate)
            edit(mine, hash);
    }
    assert_int_equal(file_write(ledger, out, strlen(out)), SOTTO_OK);
    free(text);
    free(mine);
}

/* The released line (the second) says that this file and this certificate came out of the charge. */
static inline void release_again(void)
{
    static const char *const names[] = {"output", "certificate"};
    char *text = text_of(ledger), *line = strchr(text, '\n') + 1, salt[65], found[SHA256_HEX];
    memcpy(salt, strstr(line, "\"salt\":\"") + 8, 64);
    salt[64] = 0;
    for (int i = 0; i < 2; i++) {
        char key[32], old[65], joined[64 + SHA256_HEX], *document = text_of(certificate), *hash = NULL;
        document[strlen(document) - 1] = '\0'; /* its line end */
        sha256_of(found, document, strlen(document));
        if (i == 0)
            hash = member(certificate, "output_sha256");
        snprintf(joined, sizeof joined, "%s%s", salt, hash ? hash : found);
        sha256_of(found, joined, 128);
        snprintf(key, sizeof key, "\"%s\":\"", names[i]);
        memcpy(old, strstr(line, key) + strlen(key), 64);
        old[64] = 0;
        exchange(ledger, old, found);
        free(document);
        free(hash);
    }
    hash_again(0);
    free(text);
}

static inline void keep_lines(const char *which) /* for sed */
{
    char command[64];
    snprintf(command, sizeof command, "sed -i '%s' '%%s'", which);
    run_shell(command, ledger, "");
}

#endif
