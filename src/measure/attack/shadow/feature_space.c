#include "attack/shadow/feature_space.h"

sotto_status feature_space_make(struct feature_space *out, const struct head_data *data)
{
    sotto_status status = SOTTO_OK;
    struct feature_space s = {.d = data->d};
    NEW(s.low, s.d);
    NEW(s.high, s.d);
    NEW(s.bit, s.d);
    for (size_t j = 0; j < s.d; j++) {
        s.low[j] = s.high[j] = data->x[j];
        s.bit[j] = true;
    }
    for (size_t i = 0; i < data->n; i++)
        for (size_t j = 0; j < s.d; j++) {
            float v = data->x[i * s.d + j];
            s.low[j] = v < s.low[j] ? v : s.low[j];
            s.high[j] = v > s.high[j] ? v : s.high[j];
            s.bit[j] = s.bit[j] && (v == 0 || v == 1);
        }
    *out = s;
done:
    if (status != SOTTO_OK)
        feature_space_clear(&s);
    return status;
}

void feature_space_clear(struct feature_space *s)
{
    base_free(s->low);
    base_free(s->high);
    base_free(s->bit);
    *s = (struct feature_space){0};
}

float feature_draw(const struct feature_space *s, size_t column, struct rng *r)
{
    if (s->bit[column])
        return (float)(rng_u32(r) & 1);
    return s->low[column] + (s->high[column] - s->low[column]) * rng_unit_f(r);
}

void feature_draw_row(float *row, const struct feature_space *s, struct rng *r)
{
    for (size_t j = 0; j < s->d; j++)
        row[j] = feature_draw(s, j, r);
}
