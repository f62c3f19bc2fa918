/* Genotypes: 'F' and a file, or 'L', a list of loci, '@' and a file. */
#include "data/format/vcf.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dataset *d;
    struct loci loci = {0};
    struct vcf_counts counts;
    if (size == 0 || dataset_create(&d) != SOTTO_OK)
        return 0;
    const uint8_t *at = data[0] == 'L' ? memchr(data, '@', size) : NULL, *end = data + size;
    const struct text_bytes list = {data + 1, at ? (size_t)(at - data) - 1 : 0, "list"},
                            file = {at ? at + 1 : data + 1, at ? (size_t)(end - at) - 1 : size - 1, "file"};
    if (!at)
        (void)vcf_from_memory(d, &counts, &file, NULL, VCF_ABSENT_REFUSED);
    else if (loci_from_memory(&loci, &list) == SOTTO_OK)
        (void)vcf_from_memory(d, &counts, &file, &loci, size & 1 ? VCF_ABSENT_NONE : VCF_ABSENT_FREQUENCY);
    loci_clear(&loci);
    dataset_discard(d);
    return 0;
}
