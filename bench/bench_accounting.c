/* Our accountant beside dp-accounting and prv-accountant on a grid: bench_accounting GRID.csv prints a
 * Markdown table and the DP-SGD timing. GRID.csv comes from tools/golden_accounting.py, with --seconds if
 * times are wanted. CPU time of one thread. */
#include "stopwatch.h"
#include "support/accounting_grid.h"

enum { MOST = 1000, FAMILIES = 8 };
struct family {
    char name[64];
    int points, pld, prv, refused, wider, above, distrusted, widths, their_widths;
    double seconds, width[MOST], their_width[MOST];
};

static struct family *family_of(struct family *list, const struct grid_row *row)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", row->mechanism, row->rate < 1 ? ", Poisson-sampled" : "");
    for (int i = 0; i < FAMILIES; i++)
        if (!list[i].name[0] || strcmp(list[i].name, name) == 0) {
            memcpy(list[i].name, name, sizeof name);
            return &list[i];
        }
    abort();
}

static void add(struct family *f, struct grid_row *row)
{
    struct sotto_account ours;
    const double *b = row->bound;
    double start = cpu_seconds();
    sotto_status status = grid_account(&ours, row);
    f->seconds += cpu_seconds() - start;
    f->points++;
    f->pld += !isnan(b[PLD_UPPER]) && !isinf(b[PLD_UPPER]);
    f->prv += !isnan(b[PRV_UPPER]);
    if (status != SOTTO_OK) {
        f->refused++;
        return;
    }
    grid_distrust(row);
    f->distrusted += row->distrusted;
    double upper = ours.epsilon.upper, width = upper - ours.epsilon.lower, slack = 1e-9 * (1 + upper);
    double theirs = fmin(b[PLD_UPPER] - b[PLD_LOWER], b[PRV_UPPER] - b[PRV_LOWER]);
    f->wider += width > theirs + slack;
    f->above += upper > fmin(fmin(b[PLD_UPPER], b[PRV_UPPER]), b[RDP_UPPER]) + slack;
    f->width[f->widths++] = width;
    if (!isnan(theirs))
        f->their_width[f->their_widths++] = theirs;
}

static void time_dp_sgd(void)
{
    enum { RUNS = 9 };
    double seconds[RUNS];
    struct sotto_account a;
    for (int r = 0; r < RUNS; r++) {
        struct sotto_sampled s = {.mechanism = "gaussian",
                                  .noise_multiplier = 1.1 + 1e-9 * r,
                                  .sample_rate = 0.01,
                                  .steps = 10000,
                                  .delta = 1e-5,
                                  .clipping = SOTTO_NORM_L2,
                                  .adjacency = SOTTO_ADD_REMOVE,
                                  .sampling = SOTTO_SAMPLING_POISSON};
        double start = cpu_seconds();
        if (sotto_account_sampled(&a, &s, NULL) != SOTTO_OK)
            return;
        seconds[r] = cpu_seconds() - start;
    }
    printf(
        "\nDP-SGD, q 0.01, sigma 1.1, 10,000 steps, delta 1e-5: [%.9g, %.9g] (%s) in %.3f ms, median of %d\n",
        a.epsilon.lower, a.epsilon.upper, a.accountant, median(seconds, RUNS) * 1e3, RUNS);
}

int main(int argc, char **argv)
{
    static struct family list[FAMILIES];
    struct grid_row row;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file || !grid_read(&row, file)) {
        fprintf(stderr, "usage: bench_accounting GRID.csv\n");
        return 64;
    }
    while (grid_read(&row, file))
        add(family_of(list, &row), &row);
    fclose(file);
    printf("| mechanism | points | answered by sotto | by dp-accounting (PLD) | by prv-accountant | sotto's "
           "interval wider | "
           "sotto's upper end above | median width | theirs (the narrower) | CPU ms a point |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < FAMILIES && list[i].name[0]; i++) {
        struct family *f = &list[i];
        printf("| %s | %d | %d | %d | %d | %d | %d | %.2g | %.2g | %.3f |\n", f->name, f->points,
               f->points - f->refused, f->pld, f->prv, f->wider, f->above,
               median(f->width, (size_t)f->widths), median(f->their_width, (size_t)f->their_widths),
               f->seconds * 1e3 / f->points);
    }
    time_dp_sgd();
    return 0;
}
