#include "generate/generator.h"
#include "base/choice.h"

#include <string.h>

static const struct generator_kind *const kinds[] = {&generator_dcgan, &generator_wgan_gp, &generator_vae};

sotto_status generator_kind_find(const struct generator_kind **out, const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0) {
            *out = kinds[i];
            return SOTTO_OK;
        }
    return choice_unknown(SOTTO_EUSAGE, "generative model", name, "dcgan, wgan-gp or vae");
}
