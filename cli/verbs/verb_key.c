/* sotto key new | show | sign: signatures of certificates. */
#include "options/options.h"

#include <stdio.h>
#include <string.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Files"),
    {"output", OPTION_TEXT, "FILE", NULL,
     "new key file; FILE.pub holds the public key, to be handed out (new)", "o"},
    {"key", OPTION_TEXT, "FILE", NULL, "key file that signs (sign)"},
    OPTION_END};

static void print_key(const char *key, const char *path, int json)
{
    if (json)
        printf("{\"public_key\": \"%s\"}\n", key);
    else
        printf("%s: public key %s\n", path, key);
}

static sotto_status verb_key_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    (void)ctx;
    char key[SOTTO_KEY_TEXT];
    const char *action = option_argument(o, 0),
               *file = option_argument_count(o) > 1 ? option_argument(o, 1) : NULL;
    const int new = strcmp(action, "new") == 0, sign = strcmp(action, "sign") == 0;
    if (!new && !sign && strcmp(action, "show") != 0)
        return cli_unknown_action("key", action, "new, show or sign");
    if (new ? file != NULL : file == NULL)
        return cli_fail(SOTTO_EUSAGE,
                        new ? "key new: unexpected argument '%s'; give --output FILE"
                            : "key %s: no file; give the %s",
                        new ? file : action, sign ? "certificate to sign" : "key file");
    TRY_OR_RETURN(new ? option_require(o, "output") : sign ? option_require(o, "key") : SOTTO_OK);
    if (new)
        TRY_OR_RETURN(sotto_key_new(file = option_text(o, "output")));
    if (sign)
        TRY_OR_RETURN(sotto_sign(file, option_text(o, "key")));
    TRY_OR_RETURN(sotto_key_public(key, NULL, sign ? option_text(o, "key") : file));
    print_key(key, sign ? option_text(o, "key") : file, json);
    return SOTTO_OK;
}

static const struct subcommand subcommands[] = {
    {"new", "-o FILE", "make a key pair; FILE.pub holds the public key", "output|json"},
    {"show", "FILE", "show the public key of a key file", "json"},
    {"sign", "CERTIFICATE --key FILE", "sign a certificate", "key|json"},
    {NULL}};

const struct verb verb_key = {.name = "key",
                              .summary = "make keys and sign certificates with them (Ed25519)",
                              .arguments = "new -o FILE | show FILE | sign CERTIFICATE --key FILE",
                              .min_arguments = 1,
                              .max_arguments = 2,
                              .examples =
                                  "  sotto key new -o office.key\n"
                                  "  sotto key show office.key\n"
                                  "  sotto key sign protected.safetensors.certificate.json --key office.key\n"
                                  "  sotto verify protected.safetensors --trust office.key.pub",
                              .floor = FLOOR_CORE,
                              .ranks = RANK_0,
                              .own = "key",
                              .options = rows,
                              .subcommands = subcommands,
                              .run = verb_key_run};
