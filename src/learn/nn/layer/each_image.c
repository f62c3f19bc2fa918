#include "nn/layer/each_image.h"

#include <assert.h>

void layer_each_image(par_body body, struct layer_run *run)
{
    sotto_status status = par_shares(run->batch, run->threads, run->stop, body, run);
    assert(status == SOTTO_OK);
    (void)status;
}
