/* metrics.jsonl: one object per line. A process that was killed between a line and its checkpoint meets its
 * own line again after the resume; its numbers are the same, so it is simply not written twice. */
#include "ssl/pretrain.h"

#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static sotto_status already_there(int *out, const char *path, const char *start)
{
    sotto_status status = SOTTO_OK;
    unsigned char *text = NULL;
    size_t size;
    *out = 0;
    if (!file_exists(path))
        return SOTTO_OK;
    TRY(file_read(&text, &size, path, (size_t)1 << 30));
    *out = strstr((const char *)text, start) != NULL;
done:
    base_free(text);
    return status;
}

sotto_status metrics_append(const char *path, const struct pretrain_setup *setup,
                            const struct pretrain_progress *progress, double images_per_second, int resumed)
{
    sotto_status status = SOTTO_OK;
    FILE *stream = NULL;
    char start[160], run[SHA256_HEX];
    int there = 0;
    sha256_of(run, setup->recipe, strlen(setup->recipe));
    snprintf(start, sizeof start, "{\"stage\": \"pretrain\", \"run\": \"%.16s\", \"epoch\": %llu, ", run,
             (unsigned long long)(progress->step / setup->steps_per_epoch));
    if (resumed)
        TRY(already_there(&there, path, start));
    if (there)
        return SOTTO_OK;
    stream = fopen(path, "a");
    if (!stream)
        FAIL(SOTTO_ECREATE, "%s: cannot be opened for appending: %s", path, strerror(errno));
    fprintf(
        stream,
        "%s\"step\": %llu, \"loss\": %.9g, \"accuracy\": %.9g, \"lr\": %.9g, \"images_per_second\": %.5g}\n",
        start, (unsigned long long)progress->step, progress->epoch_loss, progress->epoch_accuracy,
        schedule_at(&setup->schedule, progress->step - 1), images_per_second);
    if (fflush(stream) != 0 || ferror(stream))
        FAIL(SOTTO_EIO, "%s: writing failed: %s", path, strerror(errno));
done:
    if (stream)
        fclose(stream);
    return status;
}
