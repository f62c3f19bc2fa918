#include "dp/release/statistic.h"
#include "base/memory.h"
#include "base/choice.h"
#include "sotto/private/io.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* The records, one a row, as doubles. */
struct records {
    const double *x;
    size_t n, columns;
};

/* Sums are of whole numbers, so the order of the records changes no bit and nothing is lost before the one division. */
static const double grid = 0x1p30;

static int64_t grid_index(double x, double low, double high)
{
    const double share = (x - low) / (high - low);
    return isnan(x) || isnan(share) ? (int64_t)(grid / 2)
                                    : (int64_t)nearbyint(fmin(1, fmax(0, share)) * grid);
}

static void statistic_means(double *out, const struct records *r, double low, double high)
{
    for (size_t j = 0; j < r->columns; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < r->n; i++)
            sum += grid_index(r->x[i * r->columns + j], low, high);
        out[j] = low + (high - low) * ((double)sum / grid / (double)r->n);
    }
}

/* Sample and aggregate: the means of disjoint blocks, by row number, so that one record moves one of them. */
static sotto_status block_means(double *out, const struct records *r, const struct sotto_protect *p,
                                size_t blocks)
{
    sotto_status status = SOTTO_OK;
    double *block = NULL;
    NEW(block, r->n / blocks + 1);
    for (size_t b = 0; b < blocks; b++) {
        struct records own = {block, 0, 1};
        for (size_t i = b; i < r->n; i += blocks)
            block[own.n++] = r->x[i];
        statistic_means(&out[b], &own, p->range[0], p->range[1]);
    }
done:
    base_free(block);
    return status;
}

/* Copies of the allele, 0 to 2; whatever is no share of two alleles goes to the nearest. */
static size_t statistic_copies(double share)
{
    return share > 0.75 ? 2 : share > 0.25 ? 1 : 0;
}

/* sum over the categories of (a - b)^2 / (a + b), a of cases and b of controls, as many of each; an empty one adds 0. */
static double chi_square(const double a[3], const double b[3])
{
    double sum = 0;
    for (size_t k = 0; k < 3; k++)
        sum += a[k] + b[k] > 0 ? (a[k] - b[k]) * (a[k] - b[k]) / (a[k] + b[k]) : 0;
    return sum;
}

static void chi_squares(double *out, const struct records *r, const uint8_t *is_case, bool alleles)
{
    for (size_t j = 0; j < r->columns; j++) {
        double count[2][3] = {{0}};
        for (size_t i = 0; i < r->n; i++) {
            const size_t c = statistic_copies(r->x[i * r->columns + j]);
            double *side = count[is_case[i]];
            if (alleles)
                side[0] += 2 - (double)c, side[1] += (double)c;
            else
                side[c]++;
        }
        out[j] = chi_square(count[1], count[0]);
    }
}

/* Public: which of the records are cases, half of them. */
static sotto_status load_cases(uint8_t **out, const char *path, size_t n)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array a = {0};
    size_t cases = 0;
    if (!path)
        FAIL(SOTTO_EUSAGE, "protect: a chi-square statistic compares cases with controls; give {cases}");
    TRY(sotto_array_load(&a, path, 0, NULL));
    TRY(sotto_array_convert(&a, SOTTO_U1));
    if (a.count != n)
        FAIL(SOTTO_EINVAL, "%s: has %zu values; expected one for each of %zu records", path, a.count, n);
    NEW(*out, n);
    memcpy(*out, a.data, n);
    for (size_t i = 0; i < n; i++) {
        if ((*out)[i] > 1)
            FAIL(SOTTO_EINVAL, "%s: value %zu is %d; expected 1 for a case or 0 for a control", path, i,
                 (*out)[i]);
        cases += (*out)[i];
    }
    if (2 * cases != n)
        FAIL(SOTTO_EINVAL, "%s: %zu cases and %zu controls; expected as many of each", path, cases,
             n - cases);
done:
    sotto_array_clear(&a);
    return status;
}

/* One coordinate moves by `one`; the computed ones are off by less than `rounding`. Both rounded up. */
static struct sotto_sensitivity sensitivity_of(double one, double rounding, size_t columns, bool scores)
{
    const double each = nextafter(one + 2 * rounding, INFINITY), d = (double)columns;
    if (scores)
        return (struct sotto_sensitivity){.l1 = each, .source = SOTTO_SENSITIVITY_CLIPPED};
    return (struct sotto_sensitivity){.l1 = nextafter(each * d, INFINITY),
                                      .l2 = nextafter(each * nextafter(sqrt(d), INFINITY), INFINITY),
                                      .dimension = columns,
                                      .source = SOTTO_SENSITIVITY_CLIPPED};
}

bool statistic_sensitivity(struct sotto_sensitivity *out, const char *name, double low, double high,
                           size_t records, size_t columns, bool scores)
{
    const double n = (double)records;
    const bool alleles = strcmp(name, "chi-square-alleles") == 0;
    if (strcmp(name, "mean") == 0 && low < high)
        *out = sensitivity_of((high - low) / n, 0x1p-49 * fmax(fabs(low), fabs(high)), columns, scores);
    else if (alleles || strcmp(name, "chi-square-genotypes") == 0)
        *out = sensitivity_of((alleles ? 8 : 4) * n / (n + 2), 0x1p-48 * n, columns, scores);
    else if (strcmp(name, "median") == 0 ||
             strcmp(name, "most-frequent") == 0) /* of the records that decide it */
        *out = (struct sotto_sensitivity){.l1 = 1, .source = SOTTO_SENSITIVITY_PROVED};
    else
        return false;
    return records > 0;
}

/* "count persons", then "by" or "where". No column is called so: "count" is followed by no column. */
static bool query_counts_persons(const char *text)
{
    static const char begin[] = "count persons";
    return strncmp(text, begin, sizeof begin - 1) == 0;
}

/* In no quotes: a quoted text ends in one. */
static bool query_ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), last = strlen(end);
    return length > last && strcmp(text + length - last, end) == 0;
}

static bool query_is_per_person(const char *text)
{
    return query_ends_in(text, " per person");
}

/* How many quantiles of it are chosen: up to four, unless a tree has them. They are numbers behind the column, which may be in quotes. */
static size_t query_choices(const char *text)
{
    static const char begin[] = "quantile ";
    size_t n = 0;
    if (strncmp(text, begin, sizeof begin - 1) != 0 || query_ends_in(text, " with interval"))
        return 0;
    text += sizeof begin - 1;
    text = *text == '"' ? strchr(text + 1, '"') : text;
    for (text = text ? strchr(text, ' ') : NULL; text && isdigit((unsigned char)text[1]);
         text = strchr(text + 1, ' '))
        n++;
    return n <= 4 ? n : 0;
}

bool statistic_query_fits(const struct certificate_query *q, const struct certificate_query *queries,
                          size_t count)
{
    const size_t choices = query_choices(q->text);
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += strcmp(queries[i].text, q->text) == 0;
    if (q->block_scale > 0 && (strncmp(q->text, "quantile ", 9) == 0 || query_counts_persons(q->text) ||
                               query_is_per_person(q->text)))
        return false;
    return choices ? q->choice_scale > 0 && same == choices : !(q->choice_scale > 0);
}

bool statistic_of_queries(struct sotto_sensitivity *out, const struct certificate_query *queries,
                          size_t count, size_t rows)
{
    const double m = rows > 1 ? (double)rows : 1;
    const double up = 1 + 0x1p-52 * (double)(count + 4); /* more than all roundings */
    double l1 = 0, squares = 0, block = 0;
    size_t cells = 0;
    for (size_t i = 0; i < count; i++) {
        const double mass = (double)queries[i].mass, times = queries[i].cells == 1 ? 1 : 2;
        const bool shares_radius = queries[i].block_scale > 0,
                   persons = query_counts_persons(queries[i].text),
                   once = !shares_radius && !(queries[i].choice_scale > 0) &&
                          (query_is_per_person(queries[i].text) || (persons && times == 1));
        cells += queries[i].cells;
        l1 += times * mass / (once ? m : 1);
        if (shares_radius)
            block += mass; /* as one cell that moves by all of them */
        else
            squares += times * mass * mass / (once ? m * m : persons ? m : 1);
    }
    squares += block * block;
    *out = (struct sotto_sensitivity){
        .l1 = l1 * up, .l2 = sqrt(squares) * up, .dimension = cells, .source = SOTTO_SENSITIVITY_CLIPPED};
    return count > 0;
}

double statistic_choice_scale(const char *mechanism, double scale, int64_t mass)
{
    const double gaussian = 0.62665706865775024; /* sqrt(2 pi) / 4, rounded up */
    const double factor = strcmp(mechanism, "laplace") == 0    ? 1
                          : strcmp(mechanism, "gaussian") == 0 ? gaussian
                                                               : INFINITY;
    return factor * (scale / (double)mass);
}

bool statistic_block_fits(const struct certificate_query *queries, size_t count, const char *mechanism,
                          double scale)
{
    double cells = 0, mass = 0, radius = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(queries[i].block_scale > 0))
            continue;
        if (cells++ > 0 && ((double)queries[i].mass != mass || queries[i].block_scale != radius))
            return false;
        mass = (double)queries[i].mass;
        radius = queries[i].block_scale;
    }
    return cells == 0 || (strcmp(mechanism, "laplace") == 0 && radius * cells >= scale);
}

static sotto_status statistic_compute(double *out, struct sotto_release *r, const struct records *records,
                                      const struct sotto_protect *p, bool scores)
{
    sotto_status status = SOTTO_OK;
    uint8_t *is_case = NULL;
    const double low = p->range[0], high = p->range[1];
    const bool alleles = strcmp(p->statistic, "chi-square-alleles") == 0;
    if (p->blocks)
        FAIL(SOTTO_EUSAGE, "protect: {blocks} belongs to the median");
    if (strcmp(p->statistic, "mean") == 0) {
        if (p->cases)
            FAIL(SOTTO_EUSAGE, "protect: {cases} belongs to a chi-square statistic, not to the mean");
        if (!(low < high) || !isfinite(high - low))
            FAIL(SOTTO_EUSAGE, "protect: the mean of records needs {range=LOW,HIGH} with LOW below HIGH");
        statistic_means(out, records, low, high);
    } else if (alleles || strcmp(p->statistic, "chi-square-genotypes") == 0) {
        if (low != 0 || high != 0)
            FAIL(SOTTO_EUSAGE, "protect: {range} belongs to the mean, not to a chi-square statistic");
        TRY(load_cases(&is_case, p->cases, records->n));
        chi_squares(out, records, is_case, alleles);
    } else {
        TRY(choice_unknown(SOTTO_EUSAGE, "protect: statistic", p->statistic,
                           "mean, median, chi-square-genotypes or chi-square-alleles"));
    }
    statistic_sensitivity(&r->sensitivity, p->statistic, low, high, records->n, records->columns, scores);
done:
    base_free(is_case);
    return status;
}

bool statistic_is_median(const struct sotto_protect *p)
{
    return p->statistic && strcmp(p->statistic, "median") == 0;
}

/* The values that the median is taken of, in the place of the records. */
static sotto_status make_values(struct sotto_array *out, struct sotto_release *r,
                                const struct records *records, const struct sotto_protect *p)
{
    sotto_status status = SOTTO_OK;
    const size_t values = p->blocks ? p->blocks : records->n;
    if (records->columns != 1)
        FAIL(SOTTO_EINVAL, "%s: has %zu columns; expected one for a median, as each is a release of its own",
             p->input, records->columns);
    if (!(p->range[0] < p->range[1]) || p->cases)
        FAIL(SOTTO_EUSAGE, "protect: the median of records needs {range=LOW,HIGH}, and takes no {cases}");
    if (values > records->n)
        FAIL(SOTTO_EUSAGE, "protect: %zu blocks of %zu records; expected at most one for each record", values,
             records->n);
    TRY(sotto_array_make(out, SOTTO_F8, 1, &values));
    if (p->blocks)
        TRY(block_means(out->data, records, p, p->blocks));
    else
        memcpy(out->data, records->x, records->n * sizeof(double));
    statistic_sensitivity(&r->sensitivity, p->statistic, p->range[0], p->range[1], records->n, 1, false);
done:
    return status;
}

sotto_status statistic_replace(struct sotto_tensors *t, struct sotto_release *r,
                               const struct sotto_protect *p, bool scores)
{
    sotto_status status = SOTTO_OK;
    struct sotto_array *a = &t->items[0].array, made = {0};
    if (r->sensitivity.l1 > 0 || r->sensitivity.l2 > 0)
        FAIL(SOTTO_EUSAGE, "protect: the sensitivity of a statistic is proved; omit {sensitivity.l1}, "
                           "{sensitivity.l2} and {sensitivity_file|sensitivity}");
    if (a->ndim != 2 || a->shape[0] > (size_t)1 << 32)
        FAIL(SOTTO_EINVAL, "%s: has %d dimensions; expected 2 (records, columns), at most 2^32 records",
             p->input, a->ndim);
    if (r->records && r->records != a->shape[0])
        FAIL(SOTTO_EINVAL, "protect: %s holds %zu records, not %zu; omit {records}", p->input, a->shape[0],
             r->records);
    TRY(sotto_array_convert(a, SOTTO_F8));
    const struct records records = {a->data, a->shape[0], a->shape[1]};
    if (statistic_is_median(p)) {
        TRY(make_values(&made, r, &records, p));
    } else {
        TRY(sotto_array_make(&made, SOTTO_F8, 1, &records.columns));
        TRY(statistic_compute(made.data, r, &records, p, scores));
    }
    r->records = records.n;
    base_wipe(a->data, a->count * sizeof(double));
    sotto_array_clear(a);
    *a = made;
    made = (struct sotto_array){0};
done:
    sotto_array_clear(&made);
    return status;
}
