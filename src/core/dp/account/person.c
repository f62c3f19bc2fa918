#include "dp/account/person.h"
#include "num/interval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void unit_word(char out[UNIT_TEXT], const struct privacy_unit *u)
{
    char sampled[64] = "";
    if (u->persons)
        snprintf(sampled, sizeof sampled, ", sampled as one of %zu persons", u->persons);
    if (u->rows == 0)
        snprintf(out, UNIT_TEXT, "one record");
    else
        snprintf(out, UNIT_TEXT, "one person (%s%s%sat most %zu row%s each%s%s)",
                 u->person[0] ? "column " : "", u->person, u->person[0] ? ", " : "", u->rows,
                 u->rows == 1 ? "" : "s", sampled, u->person[0] ? "" : ", as stated by the caller");
}

size_t unit_rows(const struct privacy_unit *u)
{
    return u->persons ? 0 : u->rows;
}

bool unit_adds_up(const struct privacy_unit *a, const struct privacy_unit *b)
{
    return !a->rows == !b->rows && strcmp(a->person, b->person) == 0;
}

/* NAN, an unknown norm, stays. */
static double person_times(double norm, size_t rows)
{
    return rows > 1 && !isnan(norm) ? iv_scale(iv(norm), (double)rows).hi : norm;
}

void unit_widen(struct sotto_sensitivity *s, size_t rows)
{
    s->l1 = person_times(s->l1, rows);
    s->l2 = person_times(s->l2, rows);
}

/* 1 - (1 - q)^rows, rounded up. */
static double rate_of_person(double q, size_t rows)
{
    struct interval none = iv(1), power = iv_sub(iv(1), iv(q));
    for (; rows; rows >>= 1, power = iv_mul(power, power))
        if (rows & 1)
            none = iv_mul(none, power);
    return fmin(1, iv_sub(iv(1), none).hi);
}

struct sotto_sampled unit_steps(const struct sotto_sampled *sampled)
{
    struct sotto_sampled s = *sampled;
    const size_t rows = s.rows_per_person;
    s.rows_per_person = 0;
    if (rows <= 1)
        return s;
    s.noise_multiplier = iv_div(iv(s.noise_multiplier), iv((double)rows)).lo;
    s.sample_rate = fmin(rate_of_person(s.sample_rate, rows),
                         iv_scale(iv(s.sample_rate), (double)rows).hi); /* where the power rounds coarsely */
    return s;
}
