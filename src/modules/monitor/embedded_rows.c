/* Rows as the images that an encoder takes. */
#include "monitor/monitor_state.h"
#include "sotto/lab/ssl.h"

#include <math.h>

sotto_status monitor_embed(float **out, const struct sotto_monitor *m, const float *rows, size_t n,
                           const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    uint8_t *pixels = NULL;
    float *made = NULL;
    NEW_ROWS(pixels, n, m->result.columns);
    NEW_ROWS(made, n, m->shape.columns);
    for (size_t i = 0; i < n * m->result.columns; i++)
        pixels[i] = (uint8_t)lrintf(255 * fminf(1, fmaxf(0, rows[i])));
    const struct sotto_dataset images = {.name = "queries",
                                         .n = n,
                                         .channels = m->channels,
                                         .height = m->height,
                                         .width = m->width,
                                         .images = pixels};
    TRY(sotto_embed(made, m->encoder, &images, NULL, n, ctx));
    *out = made;
    made = NULL;
done:
    base_free(pixels);
    base_free(made);
    return status;
}
