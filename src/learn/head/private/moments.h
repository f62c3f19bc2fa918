/* moments.h - heads from one noisy release of second moments: sums over records of x x' and of x u_y', and
 * nothing else, from which a linear head follows by solving equations (docs/derivations/moments.md).
 *
 * x: the record divided by the clipping radius, with a constant c behind it: q entries, norm at most sqrt(1 +
 * c^2) (MOMENT_BALL) or entries in [0, 1] (MOMENT_BOX). u_y: the class, centred and of `outputs` entries: +-1
 * / sqrt(2) for two classes, e_y - 1/K otherwise; what all classes have in common cannot change an answer.
 *
 * The released vector is isometric: alpha times the upper triangle, entries off the diagonal times sqrt(2),
 * row by row; then beta times the sums of x u_y', row by row. */
#ifndef HEAD_PRIVATE_MOMENTS_H
#define HEAD_PRIVATE_MOMENTS_H

#include "base/cpu.h"
#include "head/model/head_trainer.h"
#include "head/private/private_recipe.h"

enum moment_domain { MOMENT_BALL, MOMENT_BOX };
struct moment_weights {
    double square, cross; /* alpha, beta */
};

/* What a solver gets: the release, taken apart. */
struct noisy_moments {
    size_t q, outputs, records;
    double *products; /* (q, q), both triangles */
    double *cross;    /* (q, outputs) */
    double deviation; /* standard deviation of the noise in an entry of the diagonal of products */
};

/* What is of its own in a trainer on second moments: one const record per file, with its row of the table of
 * trainers (head_trainer.h). */
struct moment_trainer {
    const char *name;
    enum moment_domain domain;
    const char *noise; /* default */
    bool weighted;     /* uses recipe.cross */
    struct moment_weights (*weights)(const struct sotto_head_recipe *r, size_t classes);
    /** Overwrites m->cross by the solution (q, outputs) of the regularised equations. Sees nothing else. */
    sotto_status (*solve)(struct noisy_moments *m, const struct sotto_head_recipe *r);
};

/* Shared by all trainers on second moments. */
sotto_status moment_recipe_check(struct sotto_head_recipe *r);
void moment_recipe_text(char out[HEAD_RECIPE_TEXT], const struct sotto_head_recipe *r, size_t inputs,
                        size_t classes);
double moment_recipe_radius(const struct sotto_head_recipe *r);
#define MOMENT_TRAINER                                                                                       \
    .check = moment_recipe_check, .text = moment_recipe_text, .parse = moment_recipe_parse,                  \
    .radius = moment_recipe_radius, .train_private = moment_train, .as_event = moment_event

/** Entries of x, of u, and of the released vector. */
struct moment_shape {
    size_t inputs, classes, q, outputs;
    double constant; /* c */
};
struct moment_shape moment_shape_of(const struct sotto_head_recipe *r, size_t inputs, size_t classes);
/** false: overflow. */
bool moment_dimension(size_t *out, const struct moment_shape *s);
void moment_class_vector(double *u, int64_t y, const struct moment_shape *s);

/** How far the vector AS STORED in float32 may move when one of n records is replaced, rounding included,
 * both rounded up. Depends on the recipe, n, d and K alone. */
struct moment_bound {
    double l1, l2;
    double exact_l1, exact_l2; /* without rounding */
};
void moment_bound_find(struct moment_bound *out, const struct moment_trainer *t,
                       const struct sotto_head_recipe *r, size_t n, size_t inputs, size_t classes);

/** The vector, before noise: (moment_dimension). Records that are not in the domain are scaled into it; of one
 * that counts as nothing (HEAD_NOTHING) only the constant enters. */
sotto_status moment_sums(float *vector, const struct moment_trainer *t, const struct sotto_head_recipe *r,
                         const struct head_data *data, const struct sotto_context *ctx);
/** One record as the sums see it: out (inputs), double. Returns what the norm (MOMENT_BOX: an entry's
 * distance from [0, 1]) was, over the radius. */
double moment_place(double *out, const float *x, size_t inputs, enum moment_domain domain, double radius);

/** Ridge regression: (products + lambda I) W = cross; lambda is doubled until that is positive definite. */
sotto_status moment_solve_ridge(struct noisy_moments *m, double lambda);
/** The functional mechanism's repair: lambda is added, eigenvectors of eigenvalues that are still not above
 * `least` are left out. EINVAL: q above MOMENT_SPECTRUM; EDIVERGED: no eigenvector is left. */
enum { MOMENT_SPECTRUM = 4096 };
sotto_status moment_solve_trimmed(struct noisy_moments *m, double lambda, double least);

/* Of a loss by its Taylor series of second order: the functional mechanism, and the same on a box. */
struct moment_weights moment_taylor_weights(const struct sotto_head_recipe *r, size_t classes);
sotto_status moment_taylor_solve(struct noisy_moments *m, const struct sotto_head_recipe *r);

struct moment_kernels {
    /** sums (q, ld) += z' z for rows first .. first + strip of the result and columns from `first`, rounded
     * down to a multiple of 16, on; z (rows, ld), 64-byte aligned; tile (MOMENT_STRIP, ld). */
    void (*add)(double *sums, const double *z, size_t ld, size_t rows, size_t first, size_t strip,
                double *tile);
};
enum { MOMENT_STRIP = 12, MOMENT_ALIGN = 16 };
const struct moment_kernels *moment_kernels_find(void);

/** sotto_head_train_private() for these trainers. */
sotto_status moment_train(struct sotto_head **out, struct sotto_certificate **certificate,
                          const struct head_data *data, const struct sotto_head_recipe *recipe,
                          const struct sotto_head_privacy *privacy, const struct sotto_context *ctx);

/** As its as_event. */
sotto_status moment_event(struct planned_event *out, const struct head_data *data,
                          const struct sotto_head_recipe *recipe, const struct sotto_head_privacy *privacy,
                          const struct sotto_context *ctx);

#endif
