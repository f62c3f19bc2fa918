#include "base/file.h"
#include "dp/release/charge_hint.h"
#include "head/model/head_trainer.h"
#include "sotto/lab/head.h"
#include "sotto/lab/provenance.h"

#include <stdio.h>
#include <string.h>

sotto_status head_trainer_require_private(const struct sotto_head_recipe *r)
{
    sotto_status status = SOTTO_OK;
    const struct head_trainer *t = head_trainer_of(r);
    REQUIRE(t && t->train_private,
            "trainer %s adds no noise; expected dp-sgd, dp-adam, dp-gd, objective, covariance, functional, "
            "functional-linear or taylor",
            r->trainer);
done:
    return status;
}

sotto_status sotto_head_train_private(struct sotto_head **out, struct sotto_certificate **certificate,
                                      const float *x, const int64_t *y, size_t n, size_t d, size_t classes,
                                      const struct sotto_head_recipe *recipe,
                                      const struct sotto_head_privacy *privacy,
                                      const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, certificate, !n || x, !n || y, privacy);
    struct sotto_head_recipe r;
    const struct head_data data = {x, y, n, d, classes};
    sotto_status status = head_recipe_resolve(&r, recipe);
    if (status == SOTTO_OK)
        status = head_trainer_require_private(&r);
    return status == SOTTO_OK ? head_trainer_of(&r)->train_private(out, certificate, &data, &r, privacy, ctx)
                              : status;
}

sotto_status head_private_as_event(struct planned_event *out, size_t n, size_t d, size_t classes,
                                   const struct sotto_head_recipe *recipe,
                                   const struct sotto_head_privacy *privacy, const struct sotto_context *ctx)
{
    struct sotto_head_recipe r;
    const struct head_data shape = {NULL, NULL, n, d, classes};
    sotto_status status = head_recipe_resolve(&r, recipe);
    if (status == SOTTO_OK)
        status = head_trainer_require_private(&r);
    return status == SOTTO_OK ? head_trainer_of(&r)->as_event(out, &shape, &r, privacy, ctx) : status;
}

sotto_status sotto_head_save_private(const char *path, const struct sotto_head *h,
                                     const struct sotto_certificate *certificate)
{
    REQUIRE_GIVEN(path, h, certificate);
    sotto_status status = SOTTO_OK;
    char hash[SHA256_HEX], *beside = NULL;
    size_t capacity = strlen(path) + 32;
    NEW(beside, capacity);
    snprintf(beside, capacity, "%s.certificate.json", path);
    TRY(sotto_head_save(path, h));
    TRY(sha256_file(hash, path));
    TRY(sotto_certificate_save(beside, certificate, hash));
    TRY(sotto_provenance_save(path, &(struct sotto_provenance){0})); /* of a file that lay there before */
done:
    if (status != SOTTO_OK)
        charge_name_certificate(certificate, "with its checkpoint the same command continues");
    base_free(beside);
    return status;
}
