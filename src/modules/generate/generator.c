/* A generative model: its two networks, the facts of its file, and records as it sees them. */
#include "generate/generator.h"

#include "rng/rng.h"

static void generator_configure(struct nn_model_config *maker, struct nn_model_config *reader,
                                const struct generator_kind *kind, size_t channels, size_t width)
{
    *maker = (struct nn_model_config){
        .name = kind->name, .kind = kind->maker, .input = {kind->latent, 1, 1}, .hidden_count = 2};
    *reader = (struct nn_model_config){.name = kind->name,
                                       .kind = kind->reader,
                                       .input = {channels, GENERATOR_SIDE, GENERATOR_SIDE},
                                       .hidden_count = 2};
    kind->widths(maker->hidden, reader->hidden, width, channels);
}

sotto_status generator_size(size_t *values, const struct generator_kind *kind, size_t channels, size_t width)
{
    sotto_status status = SOTTO_OK;
    struct nn_model_config maker, reader;
    size_t of_maker, of_reader;
    generator_configure(&maker, &reader, kind, channels, width);
    TRY(nn_model_size(&of_maker, NULL, &maker));
    TRY(nn_model_size(&of_reader, NULL, &reader));
    *values = of_maker + of_reader;
done:
    return status;
}

sotto_status generator_make(struct sotto_generator **out, const struct generator_kind *kind, size_t channels,
                            size_t width, uint64_t seed)
{
    sotto_status status = SOTTO_OK;
    struct sotto_generator *g = NULL;
    struct nn_model_config maker, reader;
    generator_configure(&maker, &reader, kind, channels, width);
    NEW(g, 1);
    g->kind = kind, g->channels = channels, g->width = width;
    TRY(nn_model_create(&g->maker, &maker, seed));
    TRY(nn_model_create(&g->reader, &reader, seed + 1));
    *out = g;
    g = NULL;
done:
    sotto_generator_free(g);
    return status;
}

void sotto_generator_free(struct sotto_generator *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < 2 * g->fact_count; i++)
        base_free(g->facts[i]);
    nn_model_free(g->maker);
    nn_model_free(g->reader);
    base_free(g);
}

sotto_status generator_add_fact(struct sotto_generator *g, const char *key, const char *value)
{
    sotto_status status = SOTTO_OK;
    char *key_copy = NULL, *value_copy = NULL;
    if (g->fact_count == GENERATOR_FACTS)
        FAIL(SOTTO_EINTERNAL, "generator: too many facts");
    NEW_TEXT(key_copy, key);
    NEW_TEXT(value_copy, value);
    g->facts[2 * g->fact_count] = key_copy, g->facts[2 * g->fact_count + 1] = value_copy;
    g->fact_count++;
    key_copy = value_copy = NULL;
done:
    base_free(key_copy);
    base_free(value_copy);
    return status;
}

void sotto_generator_shape(size_t shape[3], size_t *latent, const char **model,
                           const struct sotto_generator *g)
{
    GIVEN_OR(, shape, g);
    shape[0] = g->channels, shape[1] = shape[2] = GENERATOR_SIDE;
    if (latent)
        *latent = g->kind->latent;
    if (model)
        *model = g->kind->name;
}

/* ---- images ---- */

sotto_status generator_check_rows(size_t channels, const struct sotto_dataset *data, const int64_t *rows,
                                  size_t n)
{
    sotto_status status = SOTTO_OK;
    REQUIRE(data->images, "data set '%s' contains features; a generative model needs images", data->name);
    REQUIRE(data->channels == channels && (channels == 1 || channels == 3),
            "data set '%s': images have %zu channels; expected %zu", data->name, data->channels,
            channels == 1 || channels == 3 ? channels : 3);
    REQUIRE(data->height <= GENERATOR_SIDE && data->width <= GENERATOR_SIDE,
            "data set '%s': images have %zux%zu pixels; expected at most %dx%d", data->name, data->height,
            data->width, GENERATOR_SIDE, GENERATOR_SIDE);
    REQUIRE(rows && n > 0, "data set '%s': no rows were given; expected at least one", data->name);
    for (size_t i = 0; i < n; i++)
        REQUIRE(rows[i] >= 0 && (uint64_t)rows[i] < data->n,
                "row index %lld (at position %zu) is outside data set '%s' with %zu records",
                (long long)rows[i], i, data->name, data->n);
done:
    return status;
}

void generator_image(float *out, const struct sotto_dataset *data, int64_t row)
{
    size_t channels = data->channels, top = (GENERATOR_SIDE - data->height) / 2,
           left = (GENERATOR_SIDE - data->width) / 2, plane = data->height * data->width;
    const uint8_t *image = data->images + (size_t)row * channels * plane;
    for (size_t i = 0; i < GENERATOR_SIDE * GENERATOR_SIDE * channels; i++)
        out[i] = -1;
    for (size_t y = 0; y < data->height; y++)
        for (size_t x = 0; x < data->width; x++)
            for (size_t c = 0; c < channels; c++)
                out[((y + top) * GENERATOR_SIDE + x + left) * channels + c] =
                    (float)image[c * plane + y * data->width + x] / 127.5F - 1;
}

void generator_to_planes(float *out, const float *image, size_t channels)
{
    const size_t pixels = GENERATOR_SIDE * GENERATOR_SIDE;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            out[c * pixels + i] = image[i * channels + c];
}

void generator_latent(float *z, size_t count, uint64_t seed, uint64_t step, uint64_t index)
{
    struct rng r = rng_stream(seed, RNG_LATENT, step, index);
    for (size_t k = 0; k < count; k++)
        z[k] = (float)rng_normal(&r);
}

sotto_status sotto_generator_records(float *records, const struct sotto_generator *g,
                                     const struct sotto_dataset *data, const int64_t *rows, size_t n)
{
    REQUIRE_GIVEN(!n || records, g, data, !n || rows);
    sotto_status status = SOTTO_OK;
    float *image = NULL;
    size_t pixels = GENERATOR_SIDE * GENERATOR_SIDE * g->channels;
    TRY(generator_check_rows(g->channels, data, rows, n));
    NEW(image, pixels);
    for (size_t i = 0; i < n; i++) {
        generator_image(image, data, rows[i]);
        generator_to_planes(records + i * pixels, image, g->channels);
    }
done:
    base_free(image);
    return status;
}
