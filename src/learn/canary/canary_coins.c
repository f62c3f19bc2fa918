/* The secret half of canaries: coins, their file, and the commitment to them. The commitment is a hash of all that the coins
 * belong to, of a salt of 256 bits and of the coins, so it tells nothing of them, and no other coins fit it. */
#include "base/file.h"
#include "canary/canaries.h"
#include "io/json/json.h"
#include "rng/noise.h"

#include <stdio.h>
#include <string.h>

static const char schema[] = "sotto.coins/1", system_coins[] = "operating system (getrandom, ChaCha20)",
                  seeded_coins[] = "seeded: these coins prove nothing";

static void canary_coins_add(struct sha256 *sha, const char *text)
{
    sha256_update(sha, text, strlen(text) + 1);
}

void canary_coins_commitment(char out[SHA256_HEX], const struct canary_coins *c)
{
    struct sha256 sha;
    char count[32];
    snprintf(count, sizeof count, "%zu", c->count);
    sha256_init(&sha);
    canary_coins_add(&sha, schema);
    canary_coins_add(&sha, count);
    canary_coins_add(&sha, c->kind);
    canary_coins_add(&sha, c->relation);
    canary_coins_add(&sha, c->records);
    canary_coins_add(&sha, c->seeded ? seeded_coins : system_coins);
    canary_coins_add(&sha, c->salt);
    canary_coins_add(&sha, c->heads);
    sha256_hex(&sha, out);
}

sotto_status canary_coins_toss(struct canary_coins *c, bool insecure, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct noise *stream = NULL;
    unsigned char salt[(CANARY_SALT - 1) / 2];
    NEW(c->heads, c->count + 1);
    TRY(insecure ? noise_open_insecure(&stream, seed) : noise_open(&stream));
    c->seeded = insecure;
    noise_bytes(stream, salt, sizeof salt);
    for (size_t i = 0; i < sizeof salt; i++)
        snprintf(c->salt + 2 * i, 3, "%02x", salt[i]);
    for (size_t i = 0; i < c->count; i++)
        c->heads[i] = noise_bits(stream, 1) ? '1' : '0';
done:
    noise_close(stream);
    return status;
}

sotto_status canary_coins_save(const char *path, const struct canary_coins *c)
{
    char commitment[SHA256_HEX];
    struct json *object = json_make_object();
    canary_coins_commitment(commitment, c);
    json_put_text(&object, "schema", schema);
    json_put_text(&object, "note", "secret until the audit: who sees these coins can guess them");
    json_put_integer(&object, "canaries", (int64_t)c->count);
    json_put_text(&object, "kind", c->kind);
    json_put_text(&object, "relation", c->relation);
    json_put_text(&object, "records_sha256", c->records);
    json_put_text(&object, "randomness", c->seeded ? seeded_coins : system_coins);
    json_put_text(&object, "salt", c->salt);
    json_put_text(&object, "coins", c->heads);
    json_put_text(&object, "commitment", commitment);
    sotto_status status = json_write_file(path, object, JSON_PRETTY); /* mode 0600 */
    json_free(object);
    return status;
}

/* What the file says, as texts of the right form. */
static sotto_status read_coins(struct canary_coins *c, const struct json *j, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *randomness, *heads;
    TRY(json_get_size(&c->count, j, path, "canaries"));
    TRY(json_get_text_into(c->kind, sizeof c->kind, j, path, "kind"));
    TRY(json_get_text_into(c->relation, sizeof c->relation, j, path, "relation"));
    TRY(json_get_text_into(c->records, sizeof c->records, j, path, "records_sha256"));
    TRY(json_get_text_into(c->salt, sizeof c->salt, j, path, "salt"));
    TRY(json_get_text(&randomness, j, path, "randomness"));
    TRY(json_get_text(&heads, j, path, "coins"));
    c->seeded = strcmp(randomness, system_coins) != 0;
    if (strlen(heads) != c->count || strspn(heads, "01") != c->count || !c->count)
        FAIL(SOTTO_EFORMAT, "%s: 'coins' has %zu characters; expected %zu, each 0 or 1", path, strlen(heads),
             c->count);
    NEW_TEXT(c->heads, heads);
done:
    return status;
}

sotto_status canary_coins_load(struct canary_coins *c, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *j = NULL;
    const char *found, *commitment;
    char own[SHA256_HEX];
    *c = (struct canary_coins){0};
    TRY(json_read_file(&j, path));
    TRY(json_get_text(&found, j, path, "schema"));
    if (strcmp(found, schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: schema is '%.64s'; expected %s, a file of coins", path, found, schema);
    TRY(json_get_text(&commitment, j, path, "commitment"));
    TRY(read_coins(c, j, path));
    canary_coins_commitment(own, c);
    REQUIRE(
        strcmp(own, commitment) == 0,
        "%s: was edited: its commitment is not that of its coins; restore the file that the training wrote",
        path);
done:
    if (status != SOTTO_OK)
        canary_coins_clear(c);
    json_free(j);
    return status;
}

void canary_coins_clear(struct canary_coins *c)
{
    if (c->heads)
        base_wipe(c->heads, c->count);
    base_free(c->heads);
    *c = (struct canary_coins){0};
}

/* ---- at the audit: opened once, for scores and a number of guesses that were fixed before ---- */

/* OUTPUT of OUTPUT.coins.json. */
static sotto_status output_of(char out[CANARY_PATH], const char *coins)
{
    sotto_status status = SOTTO_OK;
    size_t length = strlen(coins), end = strlen(CANARY_COINS);
    REQUIRE(length > end && length - end < CANARY_PATH && strcmp(coins + length - end, CANARY_COINS) == 0,
            "%s: expected the name that the training gave it, OUTPUT" CANARY_COINS, coins);
    memcpy(out, coins, length - end);
    out[length - end] = '\0';
done:
    return status;
}

/* The certificate FILE or FILE.certificate.json; its purpose is that of the ledger entry, written before the first step. */
static sotto_status check_certificate(const char *path, const char *commitment, const char *coins)
{
    sotto_status status = SOTTO_OK;
    struct json *j = NULL;
    char beside[CANARY_PATH];
    TRY(canary_path(beside, path, ".certificate.json"));
    TRY(json_read_file(&j, file_exists(beside) ? beside : path));
    const char *purpose = json_text(json_member(j, "purpose"));
    REQUIRE(purpose && strstr(purpose, commitment),
            "%s: its coins are not those that %s committed to; give the coins of that training", coins, path);
done:
    json_free(j);
    return status;
}

static sotto_status check_commitment(const struct sotto_coins_request *r, const char *output,
                                     const char *commitment)
{
    sotto_status status = SOTTO_OK;
    char records[CANARY_PATH], found[SHA256_HEX];
    TRY(canary_path(records, output, CANARY_RECORDS));
    if (!r->certificate && !file_exists(records))
        FAIL(SOTTO_ENOENT,
             "%s: nothing holds a commitment to these coins; give {certificate}, or restore %s of the "
             "training",
             r->coins, records);
    if (file_exists(records)) {
        TRY(canary_commitment_of(found, records));
        REQUIRE(strcmp(found, commitment) == 0,
                "%s: its coins are not those that %s committed to; give the coins of that training", r->coins,
                records);
    }
    if (r->certificate)
        TRY(check_certificate(r->certificate, commitment, r->coins));
done:
    return status;
}

/* Once for these scores and guesses: the level holds for one choice. */
static sotto_status canary_coins_note(const struct sotto_coins_request *r, const char *commitment)
{
    sotto_status status = SOTTO_OK;
    char path[CANARY_PATH], scores[SHA256_HEX], *line = NULL;
    unsigned char *before = NULL;
    size_t size;
    struct json *object = json_make_object();
    TRY(canary_path(path, r->coins, CANARY_OPENED));
    sha256_of(scores, r->scores, r->n * sizeof *r->scores);
    json_put_text(&object, "schema", "sotto.coins-opened/1");
    json_put_text(&object, "commitment", commitment);
    json_put_text(&object, "scores_sha256", scores);
    json_put_integer(&object, "guesses_on_each_side", (int64_t)r->guesses);
    TRY(json_dump(&line, object, JSON_LINE));
    if (!file_exists(path)) {
        TRY(file_write(path, line, strlen(line)));
        goto done;
    }
    TRY(file_read(&before, &size, path, 1 << 16));
    REQUIRE(
        size == strlen(line) && memcmp(before, line, size) == 0,
        "%s: was opened for other scores or another number of guesses (%s); a second choice voids the level: "
        "train again with new coins",
        r->coins, path);
done:
    json_free(object);
    sotto_text_free(line);
    base_free(before);
    return status;
}

sotto_status sotto_coins_open(int64_t *heads, int *seeded, const struct sotto_coins_request *request)
{
    REQUIRE_GIVEN(heads, request);
    REQUIRE_GIVEN(request->coins, !request->n || request->scores);
    sotto_status status = SOTTO_OK;
    struct canary_coins c = {0};
    char commitment[SHA256_HEX], output[CANARY_PATH];
    TRY(output_of(output, request->coins));
    TRY(canary_coins_load(&c, request->coins));
    canary_coins_commitment(commitment, &c);
    TRY(check_commitment(request, output, commitment));
    REQUIRE(request->n == c.count, "%s: has %zu coins but there are %zu scores; expected one for each canary",
            request->coins, c.count, request->n);
    TRY(canary_coins_note(request, commitment));
    for (size_t i = 0; i < c.count; i++)
        heads[i] = c.heads[i] == '1';
    if (seeded)
        *seeded = c.seeded;
done:
    canary_coins_clear(&c);
    return status;
}
