/* A result in words: the statement, and lines for the terminal. */
#include "smoothing/smoothing_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void smoothing_state(struct sotto_smoothing_result *r, bool embeddings)
{
    const struct sotto_smoothing_options *o = &r->options;
    char promise[256] = "an answer that is given is that of the smoothed model";
    if (o->certify)
        snprintf(promise, sizeof promise,
                 "no change of a row of %s norm below its radius changes the answer of the smoothed model",
                 o->noise == SOTTO_SMOOTHING_GAUSSIAN ? "L2" : "L1");
    snprintf(
        r->statement, sizeof r->statement,
        "With probability at least 1 - %g over the noise of the copies, taken as real numbers, %s. This "
        "holds for "
        "each row by itself; the probability that it fails for any of the %zu rows, or for a row that was "
        "picked among them, is at most %g.%s It is a statement about the query, not about the training "
        "records: smoothing gives no membership guarantee, label-only attacks work on the smoothed model "
        "as on any other, and repeated queries average its noise.",
        o->alpha, promise, r->row_count, r->alpha_all,
        embeddings && o->certify ? " Distances are between inputs of the head: between embeddings, not "
                                   "images, where it was trained on "
                                   "embeddings."
                                 : "");
}

struct lines {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void smoothing_text_add(struct lines *out, const char *format,
                                                                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = out->size - out->used;
    int wanted = vsnprintf(out->text + out->used, room, format, arguments);
    va_end(arguments);
    out->used += wanted < 0 ? 0 : (size_t)wanted < room ? (size_t)wanted : room - 1;
}

static void add_curve(struct lines *out, const struct sotto_smoothing_result *r)
{
    for (size_t i = 0; i < r->curve_count; i++) {
        const struct sotto_smoothing_point *p = &r->curve[i];
        if (isnan(p->accuracy.estimate))
            return;
        if (r->options.certify)
            smoothing_text_add(out, "certified accuracy at %s radius %.4g: ",
                               r->options.noise == SOTTO_SMOOTHING_GAUSSIAN ? "L2" : "L1", p->radius);
        else
            smoothing_text_add(out, "accuracy, abstentions as errors: ");
        smoothing_text_add(out, "%.4f [%.4f, %.4f]", p->accuracy.estimate, p->accuracy.lower,
                           p->accuracy.upper);
        if (!isnan(p->pixeldp.estimate))
            smoothing_text_add(out, "  PixelDP %.4f [%.4f, %.4f]", p->pixeldp.estimate, p->pixeldp.lower,
                               p->pixeldp.upper);
        smoothing_text_add(out, "\n");
    }
}

sotto_status sotto_smoothing_summary(char **text, const struct sotto_smoothing_result *r)
{
    REQUIRE_GIVEN(text, r);
    sotto_status status = SOTTO_OK;
    const struct sotto_smoothing_options *o = &r->options;
    struct lines out = {.size = 2048 + 256 * r->curve_count};
    NEW(out.text, out.size);
    smoothing_text_add(&out, "%zu rows, %s noise of scale %g, %zu copies", r->row_count,
                       smoothing_noise_name(o->noise), o->sigma, o->n);
    if (o->certify)
        smoothing_text_add(&out, " after %zu that chose the class; largest possible %s radius %.4f", o->n0,
                           o->noise == SOTTO_SMOOTHING_GAUSSIAN ? "L2" : "L1", r->largest_radius);
    smoothing_text_add(&out, "\nabstained: %.4f of the rows\n", (double)r->abstained / (double)r->row_count);
    add_curve(&out, r);
    smoothing_text_add(&out, "%s\n", r->statement);
    *text = out.text;
done:
    return status;
}
