#include "nn/conv/example_filter.h"

#include "nn/conv/conv_phases.h"
#include "nn/conv/conv_winograd.h"

/* RESULTS_LEAST: with fewer pixels of results, transforms of the sums take what products save. WEIGHTS_MOST: gradients of
 * more weights are too large to be stored for each example. */
enum { RESULTS_LEAST = 64, WEIGHTS_MOST = 64 * 64 };

struct example_filter {
    struct conv_winograd *winograd; /* one of the two */
    struct conv_phases *phases;
};

bool example_filter_fits(const struct conv_desc *d, size_t images)
{
    return d->src_dtype == NN_F32 && d->src.channels * d->dst.channels <= WEIGHTS_MOST &&
           images * d->dst.height * d->dst.width >= RESULTS_LEAST &&
           (conv_winograd_fits(d) || (conv_phases_fits(d) && conv_phases_small(d)));
}

sotto_status example_filter_create(struct example_filter **out, const struct conv_desc *d, size_t images)
{
    sotto_status status = SOTTO_OK;
    struct example_filter *f = NULL;
    struct conv_desc own = *d;
    own.batch = images;
    own.training = own.threads = 1;
    own.diff_src = own.single_examples = 0;
    NEW(f, 1);
    if (conv_winograd_fits(d))
        TRY(conv_winograd_create(&f->winograd, &own));
    else
        TRY(conv_phases_create(&f->phases, &own));
    *out = f;
    f = NULL;
done:
    example_filter_free(f);
    return status;
}

void example_filter_layout(struct example_filter *f, struct arena *scratch)
{
    if (f->winograd)
        conv_winograd_layout(f->winograd, scratch);
    else
        conv_phases_layout(f->phases, scratch);
}

void example_filter_run(const struct example_filter *f, float *gradient, const float *diff_dst,
                        const float *src)
{
    if (f->winograd)
        conv_winograd_backward(f->winograd, NULL, gradient, diff_dst, src, NULL);
    else
        conv_phases_backward(f->phases, NULL, gradient, diff_dst, src, NULL);
}

void example_filter_free(struct example_filter *f)
{
    if (!f)
        return;
    conv_winograd_free(f->winograd);
    conv_phases_free(f->phases);
    base_free(f);
}
