/* vcf.h - genotypes of people as the Variant Call Format, the parts of it that name alleles. */
#ifndef DATA_FORMAT_VCF_H
#define DATA_FORMAT_VCF_H

#include "data/format/loci.h"

/** What a locus of the list is that the file has no line for. */
enum vcf_absent {
    VCF_ABSENT_REFUSED,
    VCF_ABSENT_FREQUENCY, /* unknown: all people has the population's frequency */
    VCF_ABSENT_NONE /* no person carries the listed allele: files that list only what varies among their people */
};
struct vcf_counts {
    size_t people, loci, missing; /* missing: genotypes, filled in with frequencies */
    size_t absent, mismatched;    /* loci of the list: without a line; with a line of other alleles */
    size_t multiallelic;          /* lines; skipped without a list, else copies of the listed allele count */
    size_t without_genotypes;     /* lines without GT, skipped */
};
/** Fills an empty set: (people, loci) shares of the listed allele, 0, 1/2 or 1, and columns "ID ALLELE OTHER".
 *
 *  In:      loci  NULL: all lines with two alleles, of the second one; missing genotypes then get the mean of the others,
 *                 which depends on all rows, and the set says so
 *  Returns: EFORMAT "where:LINE: what", also for other ploidies than 1 and 2; ENOMEM, ESTOPPED */
sotto_status vcf_from_memory(struct dataset *d, struct vcf_counts *counts, const struct text_bytes *file,
                             const struct loci *loci, enum vcf_absent absent);

#endif
