/* A result as its "sotto.smooth/1" object. */
#include "io/json/json.h"
#include "smoothing/smoothing_private.h"

#include <math.h>

static void put_estimate(struct json **object, const char *key, const struct sotto_estimate *e)
{
    if (isnan(e->estimate))
        return;
    struct json *j = json_make_object();
    json_put_real(&j, "estimate", e->estimate);
    json_put_real(&j, "lower", e->lower);
    json_put_real(&j, "upper", e->upper);
    json_put(object, key, j);
}

static struct json *row_json(const struct sotto_smoothing_row *row, const struct sotto_smoothing_options *o)
{
    struct json *j = json_make_object();
    json_put_integer(&j, "class", row->answer);
    json_put_boolean(&j, "abstained", row->abstained != 0);
    json_put_integer(&j, "votes", (int64_t)row->votes);
    if (o->certify) {
        json_put_real(&j, "p_lower", row->p_lower);
        json_put_real(&j, "radius", row->radius);
    }
    if (o->compare)
        json_put_real(&j, "pixeldp_radius", row->pixeldp);
    if (row->label >= 0)
        json_put_boolean(&j, "right", !row->abstained && row->answer == row->label);
    return j;
}

static struct json *curve_json(const struct sotto_smoothing_result *r)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < r->curve_count; i++) {
        struct json *j = json_make_object();
        json_put_real(&j, "radius", r->curve[i].radius);
        put_estimate(&j, "accuracy", &r->curve[i].accuracy);
        put_estimate(&j, "pixeldp", &r->curve[i].pixeldp);
        json_push(&list, j);
    }
    return list;
}

static struct json *result_json(const struct sotto_smoothing_result *r)
{
    const struct sotto_smoothing_options *o = &r->options;
    struct json *j = json_make_object(), *rows = json_make_array();
    json_put_text(&j, "schema", "sotto.smooth/1");
    json_put_text(&j, "method", o->certify ? "certify" : "predict");
    json_put_text(&j, "noise", smoothing_noise_name(o->noise));
    json_put_real(&j, "scale", o->sigma);
    json_put_integer(&j, "n", (int64_t)o->n);
    json_put_real(&j, "alpha", o->alpha);
    json_put_integer(&j, "records", (int64_t)r->row_count);
    json_put_integer(&j, "inputs", (int64_t)r->inputs);
    json_put_integer(&j, "classes", (int64_t)r->classes);
    json_put_real(&j, "abstained", (double)r->abstained / (double)r->row_count);
    json_put_real(&j, "alpha_all_rows", r->alpha_all);
    if (r->seeded)
        json_put_integer(&j, "seed", (int64_t)o->seed);
    if (o->certify) {
        json_put_integer(&j, "n0", (int64_t)o->n0);
        json_put_text(&j, "norm", smoothing_norm_name(o->noise));
        json_put_real(&j, "largest_radius", r->largest_radius);
    }
    if (!o->certify)
        put_estimate(&j, "accuracy", &r->curve[0].accuracy);
    else if (!isnan(r->curve[0].accuracy.estimate))
        json_put(&j, "certified_accuracy", curve_json(r));
    for (size_t i = 0; i < r->row_count; i++)
        json_push(&rows, row_json(&r->rows[i], o));
    json_put(&j, "rows", rows);
    json_put_text(&j, "statement", r->statement);
    return j;
}

sotto_status sotto_smoothing_encode(char **json, const struct sotto_smoothing_result *r)
{
    REQUIRE_GIVEN(json, r);
    struct json *j = result_json(r);
    sotto_status status = json_dump(json, j, JSON_LINE);
    json_free(j);
    return status;
}
