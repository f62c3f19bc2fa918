/* loci.h - lists of loci: which columns a table of genotypes has, in which order, and of which allele a share is.
 *
 * A list is public. Everything that decides about columns (their number, order, alleles, the value of a genotype that is
 * missing) comes from it, so that one person's row is a function of that person's alleles alone. */
#ifndef DATA_FORMAT_LOCI_H
#define DATA_FORMAT_LOCI_H

#include "data/dataset.h"
#include "io/table/csv.h"

struct locus {
    const char *id, *allele, *other; /* borrowed; other "": unknown */
    double frequency;                /* of the allele in the population; NAN: from the rows themselves */
};
struct text_bytes {
    const unsigned char *data;
    size_t size;
    const char *where; /* for messages */
};
struct loci {
    struct locus *list;         /* (count), in the order of the columns */
    const struct locus **by_id; /* (count), rising by id */
    size_t count, unclear;      /* unclear: left out, because the strand cannot be told */
    struct csv table;
    char *text;
};
/** CSV with a header: id, allele, frequency and maybe other, in any order. EFORMAT "where:LINE: what"; ENOMEM.
 *
 *  A locus with alleles A and T, or C and G, reads the same on both strands, and a frequency near 1/2 cannot tell them
 *  apart: those between .4 and .6 are left out, as are single letters of that frequency whose other allele is unknown. */
sotto_status loci_from_memory(struct loci *out, const struct text_bytes *file);
/** The same of a file. keep_unclear: also loci of an unclear strand, as of published frequencies. */
sotto_status loci_load(struct loci *out, const char *path, bool keep_unclear);
/** The finishing touch of every list: by_id. EFORMAT: an id stands twice. */
sotto_status loci_index(struct loci *l, const char *where);
/** NULL: there is no such locus. */
const struct locus *loci_find(const struct loci *l, const char *id, size_t length);
void loci_clear(struct loci *l);

#endif
