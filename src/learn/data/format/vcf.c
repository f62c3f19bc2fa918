/* Lines of sites, one person a column, become rows of people, one locus a column. */
#include "data/format/vcf.h"

#include "data/format/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHROM, POS, ID, REF, ALT, QUAL, FILTER, INFO, FORMAT, FIXED };

struct piece {
    const char *at;
    size_t length;
};

static bool vcf_is(const struct piece *p, const char *text)
{
    return strlen(text) == p->length && memcmp(p->at, text, p->length) == 0;
}

/* Takes what stands before `separator` off *rest; false: nothing is left. *rest has at NULL after its last piece. */
static bool take_piece(struct piece *out, struct piece *rest, char separator)
{
    if (!rest->at)
        return false;
    const char *end = memchr(rest->at, separator, rest->length);
    out->at = rest->at;
    out->length = end ? (size_t)(end - rest->at) : rest->length;
    rest->length -= end ? out->length + 1 : out->length;
    rest->at = end ? end + 1 : NULL;
    return true;
}

struct site {
    size_t number; /* of the line, from 1 */
    struct piece field[FIXED], samples;
    size_t alternatives; /* in ALT; 0: "." */
    size_t gt;           /* position of GT in a sample's values */
    bool has_gt;
    size_t names;   /* ID has one; without it there is one for each alternative */
    char name[256]; /* the one that name_site() was asked for */
};
struct walk {
    const struct text_bytes *file;
    struct piece rest;
    size_t number;
    size_t people;
};

static bool next_line(struct piece *line, struct walk *w)
{
    while (take_piece(line, &w->rest, '\n')) {
        w->number++;
        if (line->length && line->at[line->length - 1] == '\r')
            line->length--;
        if (line->length)
            return true;
    }
    return false;
}

/* Comments, and the line that names the columns: w->people. */
static sotto_status walk_start(struct walk *w, const struct text_bytes *file)
{
    sotto_status status = SOTTO_OK;
    static const char title[] = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t";
    struct piece line = {0};
    *w = (struct walk){.file = file, .rest = {(const char *)file->data, file->size}};
    if (file->size && memchr(file->data, '\0', file->size))
        FAIL(SOTTO_EFORMAT, "%s: contains a zero byte; expected text", file->where);
    while (next_line(&line, w))
        if (line.length < 2 || memcmp(line.at, "##", 2) != 0)
            break;
    if (line.length < sizeof title || memcmp(line.at, title, sizeof title - 1) != 0)
        FAIL(SOTTO_EFORMAT,
             "%s:%zu: expected the line of column names, #CHROM to FORMAT and at least one person",
             file->where, w->number);
    w->people = 1;
    for (size_t i = sizeof title - 1; i < line.length; i++)
        w->people += line.at[i] == '\t';
done:
    return status;
}

static void find_gt(struct site *s)
{
    struct piece rest = s->field[FORMAT], key;
    s->has_gt = false;
    for (s->gt = 0; take_piece(&key, &rest, ':'); s->gt++)
        if (vcf_is(&key, "GT")) {
            s->has_gt = true;
            return;
        }
}

/* ID, else CHROM:POS:REF:ALT of alternative k: which other alternatives there are must not decide about a name. */
static sotto_status name_site(struct site *s, size_t k, const struct walk *w)
{
    sotto_status status = SOTTO_OK;
    const struct piece *f = s->field;
    struct piece alt = {0}, alts = f[ALT];
    for (size_t i = 0; i <= k; i++)
        (void)take_piece(&alt, &alts, ',');
    int length =
        vcf_is(&f[ID], ".")
            ? snprintf(s->name, sizeof s->name, "%.*s:%.*s:%.*s:%.*s", (int)f[CHROM].length, f[CHROM].at,
                       (int)f[POS].length, f[POS].at, (int)f[REF].length, f[REF].at, (int)alt.length, alt.at)
            : snprintf(s->name, sizeof s->name, "%.*s", (int)f[ID].length, f[ID].at);
    if (length < 1 || (size_t)length >= sizeof s->name)
        FAIL(SOTTO_EFORMAT, "%s:%zu: the name of the site has %d bytes; expected 1 to %zu", w->file->where,
             w->number, length, sizeof s->name - 1);
done:
    return status;
}

/* *out: false at the end of the file. */
static sotto_status next_site(bool *found, struct site *s, struct walk *w)
{
    sotto_status status = SOTTO_OK;
    struct piece line, rest, one;
    *found = next_line(&line, w);
    if (!*found)
        return SOTTO_OK;
    rest = line;
    s->number = w->number;
    size_t columns = 1;
    for (size_t i = 0; i < line.length; i++)
        columns += line.at[i] == '\t';
    if (columns != FIXED + w->people)
        FAIL(SOTTO_EFORMAT, "%s:%zu: has %zu columns; expected %zu, as the line of column names",
             w->file->where, w->number, columns, FIXED + w->people);
    for (size_t k = 0; k < FIXED; k++)
        (void)take_piece(&s->field[k], &rest, '\t');
    s->samples = rest;
    s->alternatives = 0;
    for (struct piece alt = s->field[ALT]; !vcf_is(&s->field[ALT], ".") && take_piece(&one, &alt, ',');)
        s->alternatives++;
    s->names = vcf_is(&s->field[ID], ".") && s->alternatives > 1 ? s->alternatives : 1;
    find_gt(s);
done:
    return status;
}

/* Number of an allele at this site: 0 for REF, 1 for the first of ALT; -1: it does not occur. */
static int number_of(const struct site *s, const char *allele)
{
    struct piece alt = s->field[ALT], one;
    if (vcf_is(&s->field[REF], allele))
        return 0;
    for (int k = 1; take_piece(&one, &alt, ','); k++)
        if (allele[0] && vcf_is(&one, allele))
            return k;
    return -1;
}

/* How well a line fits a locus. A site may be split over lines, and a file that was called for few people may lack the
 * alternatives that none of them has; which of these a line is never hangs on more than who carries the allele. */
enum fit { FIT_NONE, FIT_PART, FIT_WHOLE };

static enum fit fit_of(int *number, const struct site *s, const struct locus *l)
{
    const int other = l->other[0] ? number_of(s, l->other) : -1;
    *number = number_of(s, l->allele);
    if (*number >= 0 && (other >= 0 || !l->other[0]))
        return FIT_WHOLE;
    return *number == 0 || other == 0 || !l->other[0] ? FIT_PART : FIT_NONE;
}

/* "0/1", "1|1", "1", "./.": copies of the allele over ploidy, or -1 where an allele is missing. */
static sotto_status read_genotype(float *share, const struct piece *gt, const struct site *s, int number,
                                  const struct walk *w, size_t person)
{
    sotto_status status = SOTTO_OK;
    size_t copies = 0, ploidy = 0;
    bool missing = false;
    for (size_t i = 0; i <= gt->length; ploidy++) {
        size_t allele = 0, start = i;
        const bool dot = i < gt->length && gt->at[i] == '.';
        for (; !dot && i < gt->length && gt->at[i] >= '0' && gt->at[i] <= '9' && allele < 100000; i++)
            allele = 10 * allele + (size_t)(gt->at[i] - '0');
        i += dot;
        const bool ends = i >= gt->length || gt->at[i] == '/' || gt->at[i] == '|';
        if (i == start || !ends || (!dot && allele > s->alternatives))
            FAIL(SOTTO_EFORMAT, "%s:%zu: genotype '%.*s' of person %zu; expected alleles 0 to %zu, as in 0/1",
                 w->file->where, s->number, gt->length < 20 ? (int)gt->length : 20, gt->at, person + 1,
                 s->alternatives);
        missing |= dot;
        copies += !dot && number >= 0 && allele == (size_t)number;
        i++;
    }
    if (ploidy > 2)
        FAIL(SOTTO_EFORMAT, "%s:%zu: genotype '%.*s' of person %zu has %zu alleles; expected 1 or 2",
             w->file->where, s->number, gt->length < 20 ? (int)gt->length : 20, gt->at, person + 1, ploidy);
    *share = missing ? -1 : (float)copies / (float)ploidy;
done:
    return status;
}

static sotto_status read_column(float *out, size_t stride, const struct site *s, int number,
                                const struct walk *w)
{
    sotto_status status = SOTTO_OK;
    struct piece samples = s->samples, sample, value;
    for (size_t i = 0; i < w->people; i++) {
        bool there = take_piece(&sample, &samples, '\t');
        for (size_t k = 0; there && k <= s->gt; k++)
            there = take_piece(&value, &sample, ':');
        if (!there)
            FAIL(SOTTO_EFORMAT, "%s:%zu: person %zu has no genotype; expected values as FORMAT names them",
                 w->file->where, s->number, i + 1);
        TRY(read_genotype(&out[i * stride], &value, s, number, w, i));
    }
done:
    return status;
}

/* The list of a file without one: every line with two alleles, of the second. Texts are copied, as the file has none that
 * end. */
static sotto_status own_loci(struct loci *out, struct vcf_counts *counts, const struct text_bytes *file)
{
    sotto_status status = SOTTO_OK;
    struct loci l = {0};
    struct walk w;
    struct site s;
    bool found;
    size_t lines = 0, used = 0;
    for (size_t i = 0; i < file->size; i++)
        lines += file->data[i] == '\n';
    NEW(l.list, lines + 1);
    NEW(l.text,
        3 * file->size + 1); /* names repeat what CHROM, POS, REF and ALT say; ends need less than tabs did */
    TRY(walk_start(&w, file));
    for (;;) {
        TRY(next_site(&found, &s, &w));
        if (!found)
            break;
        counts->multiallelic += s.alternatives > 1;
        counts->without_genotypes += !s.has_gt;
        if (s.alternatives != 1 || !s.has_gt)
            continue;
        TRY(name_site(&s, 0, &w));
        const struct piece texts[] = {{s.name, strlen(s.name)}, s.field[ALT], s.field[REF]};
        const char *copies[3];
        for (size_t k = 0; k < 3; k++) {
            copies[k] = memcpy(l.text + used, texts[k].at, texts[k].length);
            used += texts[k].length + 1;
        }
        l.list[l.count++] = (struct locus){copies[0], copies[1], copies[2], NAN};
    }
    if (l.count == 0)
        FAIL(SOTTO_EFORMAT, "%s: has no line of genotypes with two alleles; expected at least one",
             file->where);
    TRY(loci_index(&l, file->where));
    *out = l;
    l = (struct loci){0};
done:
    loci_clear(&l);
    return status;
}

/* What a line says about a locus of the list. fits (loci): how well earlier ones fitted. */
static sotto_status read_locus(struct dataset *d, uint8_t *fits, struct vcf_counts *counts,
                               const struct walk *w, const struct site *s, const struct loci *loci)
{
    sotto_status status = SOTTO_OK;
    int number;
    const struct locus *l = loci_find(loci, s->name, strlen(s->name));
    if (!l)
        return SOTTO_OK;
    const size_t j = (size_t)(l - loci->list);
    const enum fit fit = fit_of(&number, s, l);
    if (fit == FIT_WHOLE && fits[j] == FIT_WHOLE)
        FAIL(SOTTO_EFORMAT, "%s:%zu: a second line for locus '%.60s'; expected one", w->file->where,
             s->number, s->name);
    counts->mismatched += fit == FIT_NONE;
    if (fit <= fits[j])
        goto done;
    fits[j] = (uint8_t)fit;
    TRY(read_column(d->features + j, loci->count, s, number, w));
done:
    return status;
}

/* Values stay -1 where nothing was read. */
static sotto_status read_lines(struct dataset *d, uint8_t *fits, struct vcf_counts *counts,
                               const struct text_bytes *file, const struct loci *loci)
{
    sotto_status status = SOTTO_OK;
    struct walk w;
    struct site s;
    bool found;
    TRY(walk_start(&w, file));
    for (;;) {
        TRY(next_site(&found, &s, &w));
        if (!found)
            break;
        TRY(context_check(d->ctx, "%s: stopped while it was read", file->where));
        for (size_t k = 0; s.has_gt && k < s.names; k++) {
            TRY(name_site(&s, k, &w));
            TRY(read_locus(d, fits, counts, &w, &s, loci));
        }
    }
done:
    return status;
}

/* What is missing in column j. Without a list: the mean of the others, 0 where there is none. */
static void fill_missing(struct dataset *d, struct vcf_counts *counts, size_t j, double frequency)
{
    const size_t n = d->set.n, loci = d->set.columns;
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        if (d->features[i * loci + j] >= 0)
            sum += d->features[i * loci + j], known++;
    const double value = !isnan(frequency) ? frequency : known ? sum / (double)known : 0;
    counts->missing += n - known;
    for (size_t i = 0; i < n; i++)
        if (d->features[i * loci + j] < 0)
            d->features[i * loci + j] = (float)value;
}

static sotto_status fill_absent(struct dataset *d, const uint8_t *fits, struct vcf_counts *counts,
                                const struct loci *loci, const char *where, enum vcf_absent absent)
{
    sotto_status status = SOTTO_OK;
    for (size_t j = 0; j < loci->count; j++)
        counts->absent += fits[j] == FIT_NONE;
    if (counts->absent && absent == VCF_ABSENT_REFUSED) {
        status = status_fail(SOTTO_EFORMAT, "%s: has no line for %zu of %zu loci of the list", where,
                             counts->absent, loci->count);
        status_hint("{absent=none}: no person carries the listed allele there (files that list only what "
                    "varies among "
                    "their people); {absent=frequency}: unknown for all people");
        goto done;
    }
    for (size_t j = 0; j < loci->count; j++)
        for (size_t i = 0; fits[j] == FIT_NONE && absent == VCF_ABSENT_NONE && i < d->set.n; i++)
            d->features[i * loci->count + j] = 0;
done:
    return status;
}

static sotto_status name_columns(struct dataset *d, const struct loci *loci)
{
    sotto_status status = SOTTO_OK;
    char *name = NULL;
    TRY(dataset_reserve_columns(d, loci->count));
    for (size_t j = 0; j < loci->count; j++) {
        const struct locus *l = &loci->list[j];
        const size_t room = strlen(l->id) + strlen(l->allele) + strlen(l->other) + 3;
        NEW(name, room);
        snprintf(name, room, "%s %s%s%s", l->id, l->allele, l->other[0] ? " " : "", l->other);
        TRY(dataset_set_column(d, j, name, NULL, 0));
        base_free(name);
        name = NULL;
    }
done:
    base_free(name);
    return status;
}

sotto_status vcf_from_memory(struct dataset *d, struct vcf_counts *counts, const struct text_bytes *file,
                             const struct loci *loci, enum vcf_absent absent)
{
    sotto_status status = SOTTO_OK;
    struct loci own = {0};
    struct walk w;
    uint8_t *fits = NULL;
    const struct loci *columns = loci ? loci : &own;
    *counts = (struct vcf_counts){0};
    if (!loci)
        TRY(own_loci(&own, counts, file));
    TRY(walk_start(&w, file));
    TRY(dataset_reserve_features(d, w.people, columns->count, false));
    counts->people = w.people;
    counts->loci = columns->count;
    for (size_t i = 0; i < w.people * columns->count; i++)
        d->features[i] = -1;
    NEW(fits, columns->count);
    TRY(read_lines(d, fits, counts, file, columns));
    TRY(fill_absent(d, fits, counts, columns, file->where, absent));
    for (size_t j = 0; j < columns->count; j++)
        fill_missing(d, counts, j, columns->list[j].frequency);
    TRY(name_columns(d, columns));
    d->provenance.n = w.people;
    d->provenance.encoding = loci ? SOTTO_ENCODING_PUBLIC : SOTTO_ENCODING_FITTED;
done:
    loci_clear(&own);
    base_free(fits);
    return status;
}

static size_t vcf_find(const struct bundle *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (name_ends(path_base(b->entries[i].name), ".vcf"))
            return i;
    return b->count;
}

static bool vcf_recognise(const struct bundle *b)
{
    return vcf_find(b) < b->count;
}

static sotto_status read_absent(enum vcf_absent *out, const struct sotto_import_options *options)
{
    sotto_status status = SOTTO_OK;
    const char *text = options->absent;
    *out = VCF_ABSENT_REFUSED;
    if (!text)
        goto done;
    if (!options->loci)
        FAIL(SOTTO_EUSAGE, "import: {absent} speaks of the loci of a list; give {loci} too");
    if (strcmp(text, "none") != 0 && strcmp(text, "frequency") != 0)
        FAIL(SOTTO_EUSAGE, "import: {absent='%.40s'} is unknown; expected none or frequency", text);
    *out = strcmp(text, "none") == 0 ? VCF_ABSENT_NONE : VCF_ABSENT_FREQUENCY;
done:
    return status;
}

/* A list that `sotto data loci` took from a set says from which one; of a list that was edited since it is not known; a list without
 * a side file was stated by its author. */
static sotto_status shape_by_loci(struct sotto_provenance *p, const char *path)
{
    sotto_status status = SOTTO_OK;
    struct sotto_provenance by = {0};
    status = sotto_provenance_load(&by, path);
    const bool edited = status == SOTTO_EFORMAT;
    TRY(edited ? SOTTO_OK : status);
    if (edited || by.n > 0)
        TRY(sotto_provenance_shape(p, "loci", path, &by, sotto_dataset_is_public(by.dataset_id)));
done:
    sotto_provenance_clear(&by);
    return status;
}

static sotto_status read_vcf(struct dataset *d, const struct bundle *b,
                             const struct sotto_import_options *options, const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct loci list = {0};
    struct bytes bytes = {0};
    struct vcf_counts c;
    enum vcf_absent absent;
    char where[700];
    const size_t entry = vcf_find(b);
    TRY(read_absent(&absent, options));
    if (options->loci)
        TRY(loci_load(&list, options->loci, false));
    bundle_where(where, sizeof where, b, entry);
    TRY(bundle_load(&bytes, b, entry));
    d->ctx = ctx;
    const struct text_bytes file = {bytes.data, bytes.size, where};
    TRY(vcf_from_memory(d, &c, &file, options->loci ? &list : NULL, absent));
    if (options->loci)
        TRY(shape_by_loci(&d->provenance, options->loci));
    snprintf(d->set.origin, sizeof d->set.origin,
             "%zu people, %zu loci%s; %zu genotypes missing, %zu loci absent, %zu of unclear strand, %zu "
             "lines with "
             "other alleles, %zu with more than two, %zu without GT",
             c.people, c.loci, options->loci ? " of a public list" : "", c.missing, c.absent, list.unclear,
             c.mismatched, c.multiallelic, c.without_genotypes);
    context_log(ctx, SOTTO_LOG_INFO, "%s: %s", where, d->set.origin);
done:
    loci_clear(&list);
    bytes_clear(&bytes);
    return status;
}

const struct dataset_format format_vcf = {.name = "vcf",
                                          .layout = "FILE.vcf, plain or gzip: genotypes as shares 0, 1/2, 1 "
                                                    "of an allele at the loci of a list (public; id, "
                                                    "allele, frequency), else of every line with two alleles",
                                          .takes_loci = true,
                                          .recognise = vcf_recognise,
                                          .read = read_vcf};
