/* Pre-train an encoder on public images, without labels, and turn images into embeddings. */
#include <sotto/lab/ssl.h>
#include <sotto/sotto.h>

#include <stdio.h>
#include <stdlib.h>

static void show(void *user, const char *stage, uint64_t done, uint64_t total, const char *unit)
{
    (void)user;
    if (done == total)
        printf("%s: %llu %s\n", stage, (unsigned long long)done, unit);
}

int main(void)
{
    const struct sotto_context context = {.progress = show};
    struct sotto_dataset *images = NULL;
    struct sotto_encoder *encoder = NULL;
    struct sotto_pretrain_options options;
    sotto_pretrain_defaults(&options);
    options.encoder = "cnn";
    options.backend = "dnnl";
    options.dtype = "f32";
    options.epochs = 1;
    options.batch = 32;
    sotto_status status = sotto_dataset_open(&images, "synthetic-images-n256", &context);
    if (status == SOTTO_OK)
        status = sotto_pretrain(&encoder, NULL, images, NULL, images->n_train, &options, &context);
    float *embeddings =
        status == SOTTO_OK ? malloc(images->n * sotto_encoder_width(encoder) * sizeof *embeddings) : NULL;
    if (embeddings)
        status = sotto_embed(embeddings, encoder, images, NULL, images->n, &context);
    if (status == SOTTO_OK && embeddings)
        printf("%zu embeddings of %zu numbers\n", images->n, sotto_encoder_width(encoder));
    else
        fprintf(stderr, "%s\n", sotto_error_text());
    free(embeddings);
    sotto_encoder_free(encoder);
    sotto_dataset_free(images);
    return status != SOTTO_OK;
}
