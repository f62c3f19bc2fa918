/* Sensitivities of the second moments, by the formulas of docs/derivations/moments.md, rounded up. */
#include "head/private/moments.h"

#include "num/interval.h"

/* A t^2 + B s t at its smallest over t in [low, high]. */
static struct interval least_product(double a, double b, struct interval s, struct interval low,
                                     struct interval high)
{
    struct interval turn = iv_div(iv_mul(iv(-b), s), iv_scale(iv(a), 2));
    struct interval t = iv_min(iv_max(turn, low), high);
    return iv_add(iv_mul(iv(a), iv_square(t)), iv_mul(iv_mul(iv(b), s), t));
}

struct sizes {
    double classes, inputs, q;
    struct interval own, other; /* u_y . u_y and u_y . u_y' */
    struct interval one_norm;   /* |u_y|_1 */
    struct interval full;       /* |x|^2 at most */
    struct interval constant;
};

static struct sizes sizes_of(const struct moment_shape *s, enum moment_domain domain)
{
    struct sizes z = {.classes = (double)s->classes, .inputs = (double)s->inputs, .q = (double)s->q};
    z.constant = iv(s->constant);
    z.full = iv_add(domain == MOMENT_BALL ? iv(1) : iv(z.inputs), iv_square(z.constant));
    if (s->classes == 2) {
        z.own = iv(0.5);
        z.other = iv(-0.5);
        z.one_norm = iv_sqrt(iv(0.5));
    } else {
        z.other = iv_div(iv(-1), iv(z.classes));
        z.own = iv_add(iv(1), z.other);
        z.one_norm = iv_scale(z.own, 2);
    }
    return z;
}

static struct interval ball_l2(const struct sizes *z, struct moment_weights w)
{
    double a = w.square * w.square, b = w.cross * w.cross;
    struct interval c2 = iv_square(z->constant), low = iv_sub(c2, iv(1)), high = z->full;
    struct interval norm = iv_add(iv_mul(iv(a), iv_square(z->full)), iv_mul(iv_mul(iv(b), z->own), z->full));
    struct interval inner =
        iv_min(least_product(a, b, z->own, low, high), least_product(a, b, z->other, low, high));
    return iv_sqrt(iv_scale(iv_sub(norm, inner), 2));
}

/* One record's part: its L2 norm and its L1 norm, at most. */
static struct interval part_l2(const struct sizes *z, struct moment_weights w)
{
    return iv_sqrt(iv_add(iv_square(iv_scale(z->full, w.square)),
                          iv_mul(iv_square(iv(w.cross)), iv_mul(z->own, z->full))));
}

static struct interval ball_part_l1(const struct sizes *z, struct moment_weights w)
{
    struct interval beside = iv_mul(iv_scale(z->full, z->q - 1), iv_sqrt(iv(0.5)));
    struct interval along = iv_sqrt(iv_scale(z->full, z->q));
    return iv_add(iv_scale(iv_add(z->full, beside), w.square), iv_scale(iv_mul(along, z->one_norm), w.cross));
}

/* Entries of x x' in [0, 1] move by 1 at most, those with the constant by c, the last not at all. */
static struct interval box_l1(const struct sizes *z, struct moment_weights w)
{
    double d = z->inputs;
    struct interval pairs = iv_add(iv(d * (d - 1) / 2), iv_scale(z->constant, d));
    struct interval squares = iv_add(iv(d), iv_mul(iv_sqrt(iv(2)), pairs));
    struct interval each = z->classes == 2 ? iv_sqrt(iv(2)) : iv(2);
    return iv_add(iv_scale(squares, w.square), iv_scale(iv_mul(each, iv_add(iv(d), z->constant)), w.cross));
}

static struct interval box_l2(const struct sizes *z, struct moment_weights w)
{
    double d = z->inputs;
    struct interval squares = iv_add(iv(d * d), iv_scale(iv_square(z->constant), 2 * d));
    struct interval cross = iv_scale(iv_add(iv(d), iv_square(z->constant)), 2);
    return iv_sqrt(iv_add(iv_mul(iv_square(iv(w.square)), squares), iv_mul(iv_square(iv(w.cross)), cross)));
}

void moment_bound_find(struct moment_bound *out, const struct moment_trainer *t,
                       const struct sotto_head_recipe *r, size_t n, size_t inputs, size_t classes)
{
    struct moment_shape shape = moment_shape_of(r, inputs, classes);
    struct sizes z = sizes_of(&shape, t->domain);
    struct moment_weights w = t->weights(r, classes);
    bool ball = t->domain == MOMENT_BALL;
    struct interval own_l1 = ball ? ball_part_l1(&z, w) : box_l1(&z, w); /* a box holds 0 */
    struct interval l1 = ball ? iv_scale(own_l1, 2) : own_l1, l2 = ball ? ball_l2(&z, w) : box_l2(&z, w);
    double records = (double)n;
    /* Both vectors are stored in float32 (2^-24 of each value) after sums in double of n products of rounded
     * numbers; section 5. The last factor covers products of errors. */
    double rounding = 2 * records * (0x1p-24 + (records + 64) * 0x1p-52) * (1 + 0x1p-10);
    if (!ball) /* the constant's own entries do not move, but they are rounded */
        own_l1 = iv_add(own_l1, iv_scale(iv_square(z.constant), w.square));
    out->exact_l1 = l1.hi;
    out->exact_l2 = l2.hi;
    out->l1 = iv_add(l1, iv_scale(own_l1, rounding)).hi;
    out->l2 = iv_add(l2, iv_scale(part_l2(&z, w), rounding)).hi;
}
