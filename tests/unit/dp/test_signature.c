/* Signatures: Ed25519 on the first three messages of RFC 8032, section 7.1; keys; and files of which one bit was changed. */
#include "support/test.h"

#include "base/ed25519.h"
#include "base/file.h"
#include "dp/sign/signature.h"
#include "support/temporary_folder.h"

#include <string.h>
#include <sys/stat.h>

TEST(signatures_are_those_of_the_rfc)
{
    static const struct {
        const char *seed, *key, *message, *signature;
    } rows[] = {
        {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd2"
         "5bf5f0595bbe24655141438e7a100b"},
        {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c38"
         "7b2eaeb4302aeeb00d291612bb0c00"},
        {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a"
         "7c15e9716ed28dc027beceea1ec40a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char seed[ED25519_SEED], key[ED25519_PUBLIC], signature[ED25519_SIGNATURE], message[2];
        char text[2 * ED25519_SIGNATURE + 1];
        const size_t bytes = strlen(rows[i].message) / 2;
        assert_true(hex_decode(seed, sizeof seed, rows[i].seed));
        assert_true(hex_decode(message, bytes, rows[i].message));
        assert_int_equal(ed25519_public(key, seed), SOTTO_OK);
        hex_encode(text, key, sizeof key);
        assert_string_equal(text, rows[i].key);
        assert_int_equal(ed25519_sign(signature, message, bytes, seed), SOTTO_OK);
        hex_encode(text, signature, sizeof signature);
        assert_string_equal(text, rows[i].signature);
        assert_true(ed25519_verify(signature, message, bytes, key));
        signature[i] ^= 4;
        assert_false(ed25519_verify(signature, message, bytes, key));
    }
}

TEST(digits_are_lower_case_and_all_there)
{
    unsigned char two[2];
    assert_true(hex_decode(two, 2, "00ff") && two[0] == 0 && two[1] == 255);
    const char *const bad[] = {"00f", "00ff0", "00FF", "00fg", " 0ff", "", "00 ff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(hex_decode(two, 2, bad[i]));
}

TEST(keys_are_kept_apart)
{
    char one[SOTTO_KEY_TEXT], two[SOTTO_KEY_TEXT];
    int secret;
    struct stat file;
    assert_int_equal(sotto_key_new(path_of("a.key")), SOTTO_OK);
    assert_int_equal(stat(path_of("a.key"), &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);
    assert_int_equal(sotto_key_public(one, &secret, path_of("a.key")), SOTTO_OK);
    assert_int_equal(secret, 1);
    assert_int_equal(sotto_key_public(two, &secret, path_of("a.key.pub")), SOTTO_OK);
    assert_int_equal(secret, 0);
    assert_string_equal(one, two);
    assert_int_equal(sotto_key_new(path_of("b.key")), SOTTO_OK);
    assert_int_equal(sotto_key_public(two, NULL, path_of("b.key")), SOTTO_OK);
    assert_string_not_equal(one, two);
    assert_int_equal(sotto_key_new(path_of("a.key")), SOTTO_ECREATE); /* never overwritten */
    assert_int_equal(sotto_key_new(path_of("a.key.pub")), SOTTO_ECREATE);
    assert_int_equal(signature_make(path_of("a.key"), path_of("a.key.pub")), SOTTO_EFORMAT);
    /* halves of two pairs */
    unsigned char *text;
    size_t size;
    assert_int_equal(file_read(&text, &size, path_of("a.key"), 1 << 20), SOTTO_OK);
    memcpy(strstr((char *)text, one), two, SOTTO_KEY_TEXT - 1);
    assert_int_equal(file_write(path_of("c.key"), text, size), SOTTO_OK);
    base_free(text);
    assert_int_equal(sotto_key_public(one, NULL, path_of("c.key")), SOTTO_EFORMAT);
}

TEST(what_is_wrong_in_a_key_is_named)
{
    static const char *const changes[][3] = {
        {"\"schema\": \"", "\"schema\": \"x", "'schema' is 'x"},
        {"\"algorithm\": \"", "\"algorithm\": \"x", "'algorithm' is 'x"},
        {"\"public_key\": \"", "\"public_key\": \"x", "'public_key' is no key"},
        {"\"secret_key\": \"", "\"secret_key\": \"x", "'secret_key' is no key"}};
    char key[SOTTO_KEY_TEXT], bad[1024];
    unsigned char *good;
    size_t size;
    assert_int_equal(sotto_key_new(path_of("d.key")), SOTTO_OK);
    assert_int_equal(file_read(&good, &size, path_of("d.key"), sizeof bad / 2), SOTTO_OK);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr((char *)good, changes[i][0]);
        assert_non_null(at);
        snprintf(bad, sizeof bad, "%.*s%s%s", (int)(at - (char *)good), (char *)good, changes[i][1],
                 at + strlen(changes[i][0]));
        assert_int_equal(file_write(path_of("e.key"), bad, strlen(bad)), SOTTO_OK);
        assert_int_equal(sotto_key_public(key, NULL, path_of("e.key")), SOTTO_EFORMAT);
        if (!strstr(sotto_error_text(), changes[i][2]))
            fail_msg("%s: %s", changes[i][1], sotto_error_text());
    }
    base_free(good);
}

static void check(bool found, bool valid)
{
    bool is_found, is_valid;
    char key[SOTTO_KEY_TEXT];
    assert_int_equal(signature_check(&is_found, &is_valid, key, path_of("file")), SOTTO_OK);
    assert_int_equal(is_found, found);
    assert_int_equal(is_valid, valid);
}

TEST(one_bit_of_the_file_or_of_its_signature_is_enough)
{
    unsigned char content[40], *document;
    size_t size;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)(7 * i);
    assert_int_equal(sotto_key_new(path_of("k")), SOTTO_OK);
    assert_int_equal(file_write(path_of("file"), content, sizeof content), SOTTO_OK);
    check(false, false);
    assert_int_equal(signature_make(path_of("file"), path_of("k")), SOTTO_OK);
    check(true, true);
    for (size_t bit = 0; bit < 8 * sizeof content; bit++) {
        content[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_int_equal(overwrite(path_of("file"), content, sizeof content), 0);
        check(true, false);
        content[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    assert_int_equal(overwrite(path_of("file"), content, sizeof content - 1), 0);
    check(true, false);
    assert_int_equal(overwrite(path_of("file"), content, sizeof content), 0);
    check(true, true);
    assert_int_equal(file_read(&document, &size, path_of("file.signature.json"), 1 << 20), SOTTO_OK);
    for (size_t at = 0; at < size; at += 3) { /* schema, algorithm, key, signature, or no JSON any more */
        const unsigned char kept = document[at];
        if (kept == ' ' || kept == '\n')
            continue;
        document[at] = kept == '0' ? '1' : '0';
        assert_int_equal(overwrite(path_of("file.signature.json"), document, size), 0);
        check(true, false);
        document[at] = kept;
    }
    base_free(document);
    signature_remove(path_of("file"));
    check(false, false);
}

TEST_GROUP(.set_up = make_folder, .tear_down = remove_folder)
