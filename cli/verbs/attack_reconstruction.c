/* sotto attack informed-reconstruction: training records, for an attacker who knows all others. */
#include "options/options.h"
#include "inputs/labelled_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What a certificate says: the deviation of its noise, and the bound at this prior. */
static sotto_status read_certificate(double *noise, double *bound, const struct options *o, double prior,
                                     const struct sotto_context *ctx)
{
    struct sotto_certificate *c = NULL;
    struct sotto_privacy_profile profile = {0};
    struct sotto_verification v = {0};
    const char *path = option_text(o, "certificate");
    if (!path)
        return SOTTO_OK;
    sotto_status status = SOTTO_OK;
    TRY(sotto_verify(&v, path, NULL, NULL, ctx));
    TRY(sotto_certificate_load(&c, v.certificate));
    TRY(sotto_certificate_profile(&profile, c, ctx));
    TRY(sotto_reconstruction_bound(bound, &profile, prior));
    *noise = sotto_certificate_account(c)->standard_deviation;
done:
    sotto_certificate_free(c);
    sotto_privacy_profile_clear(&profile);
    sotto_verification_clear(&v);
    return status;
}

static void attack_reconstruction_print(const struct sotto_reconstruction *r, double bound, int json)
{
    char most[SOTTO_NUMBER_TEXT];
    if (json) {
        printf("{\"schema\": \"sotto.reconstruction/1\", \"targets\": %zu, \"right\": %zu, \"candidates\": "
               "%zu, \"found\": "
               "{\"estimate\": %.17g, \"lower\": %.17g, \"upper\": %.17g}, \"prior\": %.17g, \"error\": "
               "%.17g, \"bound\": ",
               r->targets, r->right, r->candidates, r->found.estimate, r->found.lower, r->found.upper,
               r->prior, r->error);
        printf(isnan(bound) ? "null}\n" : "%.17g}\n", bound);
        return;
    }
    printf("%zu of %zu records named among %zu candidates: %.3f [%.3f, %.3f]; without the head: %.3f\n"
           "squared error relative to the candidates' mean, median: %.3g (1: the head tells nothing)\n",
           r->right, r->targets, r->candidates, r->found.estimate, r->found.lower, r->found.upper, r->prior,
           r->error);
    if (!isnan(bound))
        printf("by the certificate at most %s, for any attacker who knows all other records\n",
               sotto_number_text(most, bound, 4, 1));
}

static sotto_status attack_reconstruction(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct labelled_rows member = {0}, attacker = {0};
    struct sotto_head *head = NULL;
    struct sotto_reconstruction r;
    double bound = NAN;
    size_t d = 0, classes = 0;
    struct sotto_reconstruction_input in = {.targets = option_count(o, "targets"),
                                            .candidates = option_count(o, "candidates"),
                                            .seed = option_count(o, "seed")};
    if (!option_text(o, "target"))
        return cli_fail(SOTTO_EUSAGE, "attack: informed-reconstruction needs --target FILE, a head");
    if (in.candidates < 2)
        return cli_fail(SOTTO_EUSAGE, "--candidates: %zu; expected at least 2", in.candidates);
    sotto_status status = SOTTO_OK;
    TRY(sotto_head_load(&head, option_text(o, "target")));
    d = sotto_head_inputs(head), classes = sotto_head_classes(head);
    TRY(labelled_rows_load(&member, o, "member", d, classes));
    TRY(labelled_rows_load(&attacker, o, "attacker", d, classes));
    TRY(read_certificate(&in.noise, &bound, o, 1 / (double)in.candidates, ctx));
    in.member = (struct sotto_records){member.x.data, member.y.data, member.y.count};
    in.attacker = (struct sotto_records){attacker.x.data, attacker.y.data, attacker.y.count};
    TRY(sotto_reconstruct(&r, head, &in, ctx));
    attack_reconstruction_print(&r, bound, json);
done:
    sotto_head_free(head);
    labelled_rows_clear(&member), labelled_rows_clear(&attacker);
    return status;
}

static const struct option_row rows[] = {
    OPTION_GROUP("Reconstruction (sotto attack informed-reconstruction)"),
    {"targets", OPTION_COUNT, "N", "20", "members that are attacked, one by one"},
    {"candidates", OPTION_COUNT, "K", "10", "records of its class among which each is to be named"},
    {"certificate", OPTION_TEXT, "FILE", NULL,
     "certificate of the target: its noise, and the bound on any such attack"},
    OPTION_END};

static const struct subcommand subcommands[] = {
    {"informed-reconstruction", "", "rebuild one training record of a convex head from all others",
     "target|member-features|member-labels|attacker-features|attacker-labels|targets|candidates|certificate|"
     "seed|"
     "output"},
    {NULL}};

const struct verb_part verb_part_attack_reconstruction = {
    .verb = "attack",
    .when = "informed-reconstruction",
    .options = rows,
    .own = "targets|candidates|certificate",
    .examples = "  sotto attack informed-reconstruction --target head.safetensors --member-features xm.npy "
                "--member-labels ym.npy "
                "--attacker-features xa.npy --attacker-labels ya.npy --certificate "
                "head.safetensors.certificate.json",
    .lines = "  informed-reconstruction What a head of a convex trainer tells of one record if all others "
             "are known "
             "(needs --target)\n",
    .subcommands = subcommands,
    .run = attack_reconstruction};
