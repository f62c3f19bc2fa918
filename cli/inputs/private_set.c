#include "inputs/private_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option_row private_set_rows[] = {
    OPTION_TABLE("spend", "dataset-id|rows-per-person|ledger"),
    OPTION_TABLE("source", NULL),
    OPTION_GROUP("Ledger"),
    OPTION_TABLE("spend", "budget-epsilon|budget-delta|purpose|read-from-data|planned|insecure-noise-seed"),
    {"sign", OPTION_TEXT, "FILE", NULL, "key file of 'sotto key new' which signs the certificate"},
    OPTION_END};

sotto_status shape_by_rows(struct sotto_provenance *p, const char *what, const char *path)
{
    struct sotto_provenance rows = {0};
    sotto_status status = path ? sotto_provenance_load(&rows, path) : SOTTO_OK;
    if (status == SOTTO_OK && path)
        status = sotto_provenance_shape(p, what, path, &rows, sotto_dataset_is_public(rows.dataset_id));
    sotto_provenance_clear(&rows);
    return status;
}

sotto_status shape_by_encoder(struct sotto_provenance *p, const char *path)
{
    struct sotto_encoder *e = NULL;
    if (!path || sotto_encoder_load(&e, path) != SOTTO_OK)
        return shape_by_rows(p, "encoder", path);
    sotto_status status = sotto_encoder_shape(p, e, path);
    sotto_encoder_free(e);
    return status;
}

static sotto_status check_budget(const struct options *o, const char *verb)
{
    if (option_given(o, "budget-delta") && !option_given(o, "budget-epsilon"))
        return cli_fail(SOTTO_EUSAGE, "%s: --budget-delta needs --budget-epsilon", verb);
    if (option_given(o, "budget-epsilon") && option_real(o, "budget-epsilon") == 0) /* 0 stands for none */
        return cli_fail(SOTTO_EINVAL, "budget epsilon must be > 0 (got 0)");
    return SOTTO_OK;
}

/* Before anything is charged. */
static sotto_status check_key(const char *path, const char *verb)
{
    char key[SOTTO_KEY_TEXT];
    int secret = 1;
    TRY_OR_RETURN(path ? sotto_key_public(key, &secret, path) : SOTTO_OK);
    if (!secret)
        return cli_fail(SOTTO_EUSAGE, "%s: --sign: %s holds a public key alone; expected the secret one",
                        verb, path);
    return SOTTO_OK;
}

sotto_status private_set_noise_once(const struct options *o, const char *verb, const char *noise)
{
    if (option_given(o, noise) + option_given(o, "epsilon") + option_given(o, "max-tpr") +
            option_given(o, "max-advantage") ==
        1)
        return SOTTO_OK;
    return cli_fail(SOTTO_EUSAGE, "%s: give exactly one of --%s, --epsilon, --max-tpr and --max-advantage",
                    verb, noise);
}

sotto_status private_set_identify(struct private_set *s, const struct options *o,
                                  const struct sotto_provenance *provenance, const char *verb,
                                  const char *what)
{
    const char *given = option_text(o, "dataset-id"), *carried = provenance->dataset_id;
    if (!given && !carried[0])
        return cli_fail(
            SOTTO_EUSAGE,
            "%s: %s has no identity (made elsewhere, opened by its path, or imported by version 1), so "
            "no ledger can be charged; import it again with 'sotto data import', or name the private "
            "data set with --dataset-id",
            verb, what);
    if (given && carried[0] && strcmp(given, carried) != 0)
        return cli_fail(SOTTO_EUSAGE, "%s: %s belongs to data set '%s', not to '%s'; omit --dataset-id", verb,
                        what, carried, given);
    if (!carried[0] && sotto_dataset_is_public(given))
        return cli_fail(SOTTO_EUSAGE,
                        "%s: --dataset-id '%s' is the name of a public set, and %s does not come from it; "
                        "choose another name",
                        verb, given, what);
    s->source =
        (struct sotto_source_records){.public_set = sotto_dataset_is_public(carried[0] ? carried : given)};
    sotto_status status = option_members(&s->source, sotto_option_table("source"), o);
    if (s->source.move_ledger && !option_given(o, "ledger"))
        return cli_fail(SOTTO_EUSAGE,
                        "%s: --ledger-move needs the new path of the ledger; give --ledger FILE", verb);
    s->spend = (struct sotto_spend){
        .provenance = provenance, .source = &s->source, .insecure = option_given(o, "insecure-noise-seed")};
    s->key = option_text(o, "sign");
    s->risk.max_tpr = option_text(o, "max-tpr");
    s->risk.max_advantage = option_given(o, "max-advantage") ? option_real(o, "max-advantage") : 0;
    if (status == SOTTO_OK)
        status = check_key(s->key, verb);
    if (status == SOTTO_OK)
        status = check_budget(o, verb);
    if (status == SOTTO_OK)
        status = option_members(&s->spend, sotto_option_table("spend"), o);
    s->spend.dataset_id = carried[0] ? carried : given;
    return status;
}

static sotto_status make_room(struct private_set *s, size_t n)
{
    s->digests = calloc(n ? n : 1, sizeof *s->digests);
    if (!s->digests)
        return cli_fail(SOTTO_ENOMEM, "out of memory for %zu records", n);
    s->source.digests = (const unsigned char(*)[SOTTO_DIGEST])s->digests;
    s->source.n = n;
    return SOTTO_OK;
}

sotto_status private_set_look_up(struct private_set *s, const struct sotto_context *ctx)
{
    const struct sotto_provenance *p = s->spend.provenance;
    if (s->source.public_set || !p->set[0] || !p->rows)
        return SOTTO_OK;
    TRY_OR_RETURN(make_room(s, p->n));
    return sotto_provenance_digests(s->digests, p, ctx);
}

static sotto_status private_set_sign(const char *output, const char *key)
{
    char certificate[4096];
    if ((size_t)snprintf(certificate, sizeof certificate, "%s.certificate.json", output) >=
        sizeof certificate)
        return cli_fail(SOTTO_EUSAGE, "--sign: the path of %s is too long", output);
    return sotto_sign(certificate, key);
}

/* What was asked for in the words of an attacker, as it came out. */
static sotto_status print_risk(const struct sotto_certificate *c, const struct sotto_risk *risk)
{
    char *line;
    if (sotto_certificate_guarantee(c) == SOTTO_GUARANTEE_NONE)
        return SOTTO_OK;
    TRY_OR_RETURN(sotto_certificate_risk(&line, c, risk, NULL));
    puts(line);
    sotto_text_free(line);
    return SOTTO_OK;
}

sotto_status private_set_print(const struct private_set *s, const struct sotto_certificate *c,
                               const char *output, int json)
{
    char *text = NULL;
    TRY_OR_RETURN(s->key ? private_set_sign(output, s->key) : SOTTO_OK);
    TRY_OR_RETURN(json ? sotto_certificate_encode(&text, c) : sotto_certificate_summary(&text, c));
    if (json)
        puts(text);
    else
        printf("%s: %s\ncertificate: %s.certificate.json\n", output, text, output);
    sotto_text_free(text);
    return !json && (s->risk.max_tpr || s->risk.max_advantage != 0) ? print_risk(c, &s->risk) : SOTTO_OK;
}

void private_set_clear(struct private_set *s)
{
    free(s->digests);
    *s = (struct private_set){0};
}
