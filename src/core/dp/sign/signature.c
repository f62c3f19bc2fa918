/* What is signed is "sotto.signature/1", a line end and the bytes of the file, so that no signature of ours is one of anything
 * else. */
#include "dp/sign/signature.h"

#include "base/ed25519.h"
#include "base/file.h"
#include "io/json/json.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char key_schema[] = "sotto.key/1", schema[] = "sotto.signature/1", algorithm[] = "Ed25519";
enum { FILE_LIMIT = 64 << 20 };

/* "PATH.pub" and the like; NULL: out of memory. */
static char *signature_beside(const char *path, const char *end)
{
    const size_t capacity = strlen(path) + strlen(end) + 1;
    char *out = base_alloc(capacity, 1);
    if (out)
        snprintf(out, capacity, "%s%s", path, end);
    return out;
}

/* ---- keys ---- */

static sotto_status write_key(const char *path, const unsigned char *seed,
                              const unsigned char key[ED25519_PUBLIC])
{
    char text[SOTTO_KEY_TEXT];
    struct json *doc = json_make_object();
    json_put_text(&doc, "schema", key_schema);
    json_put_text(&doc, "algorithm", algorithm);
    hex_encode(text, key, ED25519_PUBLIC);
    json_put_text(&doc, "public_key", text);
    if (seed) {
        hex_encode(text, seed, ED25519_SEED);
        json_put_text(&doc, "secret_key", text);
    }
    sotto_status status = json_write_file(path, doc, JSON_PRETTY);
    json_free(doc);
    secret_forget(text, sizeof text);
    return status;
}

sotto_status sotto_key_new(const char *path)
{
    REQUIRE_GIVEN(path);
    sotto_status status = SOTTO_OK;
    unsigned char seed[ED25519_SEED], key[ED25519_PUBLIC];
    char *public = signature_beside(path, ".pub");
    if (!public)
        FAIL(SOTTO_ENOMEM, "key: out of memory");
    if (file_exists(path) || file_exists(public))
        FAIL(SOTTO_ECREATE, "%s: a key exists and is never overwritten; choose another name",
             file_exists(path) ? path : public);
    TRY(ed25519_new(seed));
    TRY(ed25519_public(key, seed));
    TRY(write_key(path, seed, key));
    TRY(write_key(public, NULL, key));
done:
    secret_forget(seed, sizeof seed);
    base_free(public);
    return status;
}

/* *pair: the secret key is there too, in `seed`. */
static sotto_status read_key(unsigned char key[ED25519_PUBLIC], unsigned char seed[ED25519_SEED], bool *pair,
                             const char *path)
{
    sotto_status status = SOTTO_OK;
    struct json *doc = NULL;
    const char *text;
    unsigned char own[ED25519_PUBLIC];
    TRY(json_read_file(&doc, path));
    TRY(json_get_text(&text, doc, path, "schema"));
    if (strcmp(text, key_schema) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is '%.40s'; expected a key file of 'sotto key new'", path, text);
    TRY(json_get_text(&text, doc, path, "algorithm"));
    if (strcmp(text, algorithm) != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'algorithm' is '%.40s'; expected %s", path, text, algorithm);
    TRY(json_get_text(&text, doc, path, "public_key"));
    if (!hex_decode(key, ED25519_PUBLIC, text))
        FAIL(SOTTO_EFORMAT, "%s: 'public_key' is no key; expected 64 lower-case hexadecimal digits", path);
    *pair = json_member(doc, "secret_key") != NULL;
    if (!*pair)
        goto done;
    TRY(json_get_text(&text, doc, path, "secret_key"));
    if (!hex_decode(seed, ED25519_SEED, text))
        FAIL(SOTTO_EFORMAT, "%s: 'secret_key' is no key; expected 64 lower-case hexadecimal digits", path);
    TRY(ed25519_public(own, seed));
    if (memcmp(own, key, sizeof own) != 0)
        FAIL(SOTTO_EFORMAT, "%s: the public key does not belong to the secret one; the file was changed",
             path);
done:
    json_free(doc);
    return status;
}

sotto_status sotto_key_public(char key[SOTTO_KEY_TEXT], int *secret, const char *path)
{
    REQUIRE_GIVEN(key, path);
    unsigned char public[ED25519_PUBLIC], seed[ED25519_SEED];
    bool pair;
    sotto_status status = read_key(public, seed, &pair, path);
    if (status == SOTTO_OK)
        hex_encode(key, public, ED25519_PUBLIC);
    if (status == SOTTO_OK && secret)
        *secret = pair;
    secret_forget(seed, sizeof seed);
    return status;
}

/* ---- signatures ---- */

static sotto_status read_message(unsigned char **out, size_t *size, const char *file)
{
    sotto_status status = SOTTO_OK;
    const size_t head = sizeof schema; /* the line end takes the terminator's place */
    unsigned char *bytes = NULL;
    size_t count;
    TRY(file_read(&bytes, &count, file, FILE_LIMIT));
    NEW(*out, head + count);
    memcpy(*out, schema, head - 1);
    (*out)[head - 1] = '\n';
    memcpy(*out + head, bytes, count);
    *size = head + count;
done:
    base_free(bytes);
    return status;
}

sotto_status signature_make(const char *file, const char *key_file)
{
    sotto_status status = SOTTO_OK;
    unsigned char key[ED25519_PUBLIC], seed[ED25519_SEED] = {0}, signature[ED25519_SIGNATURE],
                                       *message = NULL;
    char text[2 * ED25519_SIGNATURE + 1], *path = signature_beside(file, ".signature.json");
    struct json *doc = NULL;
    size_t size;
    bool pair;
    if (!path)
        FAIL(SOTTO_ENOMEM, "signature: out of memory");
    TRY(read_key(key, seed, &pair, key_file));
    if (!pair)
        FAIL(SOTTO_EFORMAT, "%s: holds a public key alone; expected the secret one, to sign", key_file);
    TRY(read_message(&message, &size, file));
    TRY(ed25519_sign(signature, message, size, seed));
    doc = json_make_object();
    json_put_text(&doc, "schema", schema);
    json_put_text(&doc, "algorithm", algorithm);
    hex_encode(text, key, sizeof key);
    json_put_text(&doc, "public_key", text);
    hex_encode(text, signature, sizeof signature);
    json_put_text(&doc, "signature", text);
    TRY(json_write_file(path, doc, JSON_PRETTY));
done:
    secret_forget(seed, sizeof seed);
    json_free(doc);
    base_free(message);
    base_free(path);
    return status;
}

/* Both keys of the document, if it is a signature. */
static bool read_signature(unsigned char signature[ED25519_SIGNATURE], unsigned char key[ED25519_PUBLIC],
                           const struct json *doc)
{
    const char *found = json_text(json_member(doc, "schema")), *by = json_text(json_member(doc, "algorithm")),
               *owner = json_text(json_member(doc, "public_key")),
               *digits = json_text(json_member(doc, "signature"));
    return found && strcmp(found, schema) == 0 && by && strcmp(by, algorithm) == 0 && owner && digits &&
           hex_decode(key, ED25519_PUBLIC, owner) && hex_decode(signature, ED25519_SIGNATURE, digits);
}

sotto_status signature_check(bool *found, bool *valid, char owner[SOTTO_KEY_TEXT], const char *file)
{
    sotto_status status = SOTTO_OK;
    unsigned char key[ED25519_PUBLIC], signature[ED25519_SIGNATURE], *message = NULL;
    char *path = signature_beside(file, ".signature.json");
    struct json *doc = NULL;
    size_t size;
    owner[0] = '\0';
    *found = *valid = false;
    if (!path)
        FAIL(SOTTO_ENOMEM, "signature: out of memory");
    *found = file_exists(path);
    if (!*found)
        goto done;
    status = json_read_file(&doc, path);
    if (status == SOTTO_EFORMAT) { /* found, and no signature */
        status = SOTTO_OK;
        goto done;
    }
    TRY(status);
    if (!read_signature(signature, key, doc))
        goto done;
    TRY(read_message(&message, &size, file));
    hex_encode(owner, key, sizeof key);
    *valid = ed25519_verify(signature, message, size, key);
done:
    json_free(doc);
    base_free(message);
    base_free(path);
    return status;
}

void signature_remove(const char *file)
{
    char *path = signature_beside(file, ".signature.json");
    if (path)
        (void)unlink(path);
    base_free(path);
}
