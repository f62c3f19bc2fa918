/* Reading is checking: everything that the page shows passes through here, with the full path in the
 * error. */
#include "report/document/document_reader.h"
#include "report/document/document_pages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double largest_meaningful = 20; /* e^20 is half a billion: such odds protect no record */
enum { MAX_ROWS = 1000, MAX_ATTACKS = 64 };

static sotto_status read_draws(struct draws *out, const struct reader *r, const char *member,
                               const char *count)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, member);
    double n;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(read_number(&n, &at, count));
    TRY(read_size_if(&out->count, &at, count));
    TRY(read_number(&out->mean, &at, "mean"));
    TRY(read_number(&out->lowest, &at, "lowest"));
    TRY(read_number(&out->highest, &at, "highest"));
    TRY(check_fraction(out->mean, &at, "mean"));
    TRY(check_fraction(out->lowest, &at, "lowest"));
    TRY(check_fraction(out->highest, &at, "highest"));
done:
    return status;
}

static sotto_status read_guarantee(struct guarantee *out, const struct reader *r, const char *member)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, member), epsilon = reader_enter(&at, "epsilon");
    const struct json *object;
    struct guarantee g = {.given = true, .all_met = true};
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(json_get_object(&object, r->doc, document, epsilon.path));
    TRY(read_number_if(&g.lower, &epsilon, "lower"));
    TRY(read_number_if(&g.upper, &epsilon, "upper"));
    if (isnan(g.upper)) {
        if (!json_member(object, "upper"))
            FAIL(SOTTO_EFORMAT, "%s: '%s.upper' is missing; expected a number, or null for infinity",
                 document, epsilon.path);
        g.upper = INFINITY;
    }
    if (g.upper < 0 || g.lower > g.upper)
        FAIL(SOTTO_EFORMAT, "%s: '%s' is [%g, %g]; expected 0 <= lower <= upper", document, epsilon.path,
             g.lower, g.upper);
    TRY(read_number(&g.delta, &at, "delta"));
    TRY(check_fraction(g.delta, &at, "delta"));
    TRY(read_text_if(&g.accountant, &at, "accountant"));
    TRY(read_text_if(&g.adjacency, &at, "adjacency"));
    TRY(read_text_if(&g.unit, &at, "unit_of_privacy"));
    struct reader list = reader_enter(&at, "assumptions");
    if (reader_here(&list))
        TRY(json_get_array(&g.assumptions, r->doc, document, list.path));
    for (size_t i = 0; i < json_count(g.assumptions); i++) {
        char index[32];
        const char *text;
        bool met;
        snprintf(index, sizeof index, "[%zu]", i);
        struct reader one = reader_enter(&list, index);
        TRY(read_text(&text, &one, "text"));
        struct reader flag = reader_enter(&one, "met");
        TRY(json_get_boolean(&met, r->doc, document, flag.path));
        g.all_met &= met;
    }
    *out = g;
done:
    return status;
}

static sotto_status check_points(const struct json *list, const char *path, bool fractions)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *p = json_at(list, i);
        double x = json_number(json_at(p, 0)), y = json_number(json_at(p, 1));
        if (json_count(p) != 2 || isnan(x) || isnan(y) || (fractions && (x < 0 || x > 1 || y < 0 || y > 1)))
            return status_fail(SOTTO_EFORMAT, "%s: '%s[%zu]' is not a pair of %s", document, path, i,
                               fractions ? "fractions" : "numbers");
    }
    return SOTTO_OK;
}

/* Two lists of as many counts and the ends of their axis, or NULL: the page can do without. */
static const struct json *histogram_of(const struct json *attack)
{
    const struct json *h = part(attack, "histogram"), *member = part(h, "member"),
                      *nonmember = part(h, "nonmember");
    size_t bins = json_count(member);
    bool good =
        bins > 0 && json_count(nonmember) == bins && part_number(h, "upper") >= part_number(h, "lower");
    for (size_t i = 0; good && i < bins; i++)
        good = json_number(json_at(member, i)) >= 0 && json_number(json_at(nonmember, i)) >= 0;
    return good ? h : NULL;
}

static sotto_status check_one_run(const struct reader *at)
{
    sotto_status status = SOTTO_OK;
    size_t records = 0, guesses = 0, right = 0;
    TRY(read_size_if(&records, at, "records"));
    TRY(read_size_if(&guesses, at, "guesses"));
    TRY(read_size_if(&right, at, "right"));
    if (right > guesses || guesses > records)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu right of %zu guesses about %zu records", document, at->path,
             right, guesses, records);
done:
    return status;
}

/* Of the bound on epsilon. */
static sotto_status check_rates(const struct reader *at)
{
    static const char *const names[] = {"tpr", "fpr"};
    sotto_status status = SOTTO_OK;
    for (int i = 0; i < 2; i++) {
        double rate;
        TRY(read_number_if(&rate, at, names[i]));
        TRY(check_fraction(rate, at, names[i]));
    }
done:
    return status;
}

static sotto_status read_attack(struct attack_result *a, const struct reader *at)
{
    sotto_status status = SOTTO_OK;
    const struct json *object;
    TRY(json_get_object(&object, at->doc, document, at->path));
    TRY(read_text(&a->name, at, "name"));
    TRY(read_text_if(&a->title, at, "title"));
    TRY(read_estimate(&a->auc, at, "auc", false));
    TRY(read_number_if(&a->advantage, at, "advantage"));
    TRY(read_number_if(&a->epsilon, at, "epsilon_lower_bound"));
    TRY(read_size_if(&a->n_member, at, "n_member"));
    TRY(read_size_if(&a->n_nonmember, at, "n_nonmember"));
    struct reader detail = reader_enter(at, "balanced_accuracy_detail");
    if (reader_here(&detail)) {
        TRY(read_estimate(&a->balanced, at, "balanced_accuracy_detail", false));
        TRY(read_size_if(&a->scored_member, &detail, "n_member"));
        TRY(read_size_if(&a->scored_nonmember, &detail, "n_nonmember"));
    }
    struct reader bound = reader_enter(at, "epsilon_detail"), best = reader_enter(at, "epsilon_best"),
                  run = reader_enter(at, "one_run");
    TRY(check_rates(&bound));
    TRY(read_number_if(&a->best_epsilon, &best, "epsilon_lower_bound"));
    TRY(read_text_if(&a->best_bound, &best, "bound"));
    TRY(check_one_run(&run));
    struct reader tpr = reader_enter(at, "tpr_at_fpr");
    if (reader_here(&tpr))
        TRY(json_get_object(&a->rates, at->doc, document, tpr.path));
    for (const char *key = json_first_key(a->rates); key; key = json_next_key(a->rates, key)) {
        struct estimate ignored;
        if (json_kind(json_member(a->rates, key)) == JSON_KIND_NULL)
            continue;
        TRY(read_estimate(&ignored, &tpr, key, false));
    }
    a->refused = part(object, "tpr_at_fpr_refused");
    a->histogram = histogram_of(object);
    struct reader roc = reader_enter(at, "roc");
    if (reader_here(&roc)) {
        TRY(json_get_array(&a->roc, at->doc, document, roc.path));
        TRY(check_points(a->roc, roc.path, true));
    }
done:
    return status;
}

static sotto_status read_claim(struct report_row *row, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "claim"), flag = reader_enter(&at, "contradicted");
    if (!reader_here(&at))
        return SOTTO_OK;
    row->claimed = true;
    TRY(read_number(&row->claim_epsilon, &at, "epsilon"));
    TRY(read_number(&row->claim_delta, &at, "delta"));
    TRY(check_fraction(row->claim_delta, &at, "delta"));
    TRY(read_number(&row->claim_bound, &at, "epsilon_lower_bound"));
    TRY(read_text_if(&row->claim_attack, &at, "attack"));
    TRY(read_text_if(&row->claim_bound_name, &at, "bound"));
    TRY(json_get_boolean(&row->claim_contradicted, r->doc, document, flag.path));
    if (row->claim_contradicted != (row->claim_bound > row->claim_epsilon))
        FAIL(SOTTO_EFORMAT, "%s: '%s' does not match its numbers (bound %g, claim %g)", document, flag.path,
             row->claim_bound, row->claim_epsilon);
done:
    return status;
}

static sotto_status read_audit(struct report_row *row, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "measured"), list = reader_enter(&at, "attacks");
    const struct json *attacks;
    const char *schema;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(json_get_object(&row->audit, r->doc, document, at.path));
    TRY(read_text(&schema, &at, "schema"));
    if (strcmp(schema, "sotto.audit/1") != 0)
        FAIL(SOTTO_EFORMAT, "%s: '%s.schema' is not sotto.audit/1", document, at.path);
    TRY(read_number(&row->confidence, &at, "confidence"));
    if (!(row->confidence > 0 && row->confidence < 1))
        FAIL(SOTTO_EFORMAT, "%s: '%s.confidence' is %g; expected a number between 0 and 1", document, at.path,
             row->confidence);
    TRY(json_get_array(&attacks, r->doc, document, list.path));
    size_t count = json_count(attacks);
    if (count > MAX_ATTACKS)
        FAIL(SOTTO_EFORMAT, "%s: '%s' has %zu attacks; expected at most %d", document, list.path, count,
             MAX_ATTACKS);
    NEW(row->attacks, count);
    row->attack_count = count;
    for (size_t i = 0; i < count; i++) {
        char index[32];
        snprintf(index, sizeof index, "[%zu]", i);
        struct reader one = reader_enter(&list, index);
        TRY(read_attack(&row->attacks[i], &one));
        if (strcmp(row->attacks[i].name, "loss") == 0)
            row->headline = i;
    }
    const char *closer = part_text(row->audit, "slices.attack");
    row->closer = row->headline;
    for (size_t i = 0; closer && i < count; i++)
        if (strcmp(row->attacks[i].name, closer) == 0)
            row->closer = i;
    TRY(read_claim(row, &at));
    TRY(row_take_numbers(row));
    struct reader spread = reader_enter(r, "measured_draws");
    if (reader_here(&spread))
        TRY(read_text(&row->draws_attack, &spread, "attack"));
    TRY(read_draws(&row->auc_draws, r, "measured_draws", "draws"));
done:
    return status;
}

/* One attack, the guesses of which are counted. */
static sotto_status read_canaries(struct report_row *row, const struct reader *r)
{
    static const char *const numbers[] = {"one_run.guesses", "one_run.right", "one_run.epsilon_lower_bound",
                                          "one_run_bounds.epsilon_lower_bound"};
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "canaries"), audit = reader_enter(&at, "audit"),
                  curve = reader_enter(&audit, "curve"), list = reader_enter(&audit, "attacks"),
                  attack = reader_enter(&list, "[0]");
    const char *text;
    double number;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(read_number(&number, &at, "count"));
    TRY(read_text(&text, &at, "kind"));
    TRY(read_text(&text, &at, "access"));
    TRY(read_text(&text, &curve, "adjacency"));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        TRY(read_number(&number, &attack, numbers[i]));
    struct reader flag = reader_enter(&curve, "contradicted");
    TRY(json_get_boolean(&row->canaries_contradict, r->doc, document, flag.path));
    row->canaries = reader_here(&at);
done:
    return status;
}

static sotto_status read_sensitivity(struct report_row *row, const struct reader *r)
{
    static const char *const sources[] = {"proved", "clipped", "sampled", "given"};
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "sensitivity");
    row->l1 = row->l2 = NAN;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(read_text(&row->source, &at, "source"));
    bool known = false;
    for (size_t i = 0; i < 4; i++)
        known |= strcmp(row->source, sources[i]) == 0;
    if (!known)
        FAIL(SOTTO_EFORMAT, "%s: '%s.source' is not one of proved, clipped, sampled, given", document,
             at.path);
    TRY(read_number_if(&row->l1, &at, "l1"));
    TRY(read_number_if(&row->l2, &at, "l2"));
    TRY(read_size_if(&row->pairs, &at, "pairs"));
    TRY(read_text_if(&row->source_note, &at, "note"));
done:
    return status;
}

/* Estimates, each with its class. */
static sotto_status check_classes(const struct json **out, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct reader list = reader_enter(r, "classes");
    if (!reader_here(&list))
        return SOTTO_OK;
    TRY(json_get_array(out, r->doc, document, list.path));
    for (size_t i = 0; i < json_count(*out); i++) {
        char index[32];
        struct estimate ignored;
        double number;
        snprintf(index, sizeof index, "[%zu]", i);
        struct reader one = reader_enter(&list, index);
        TRY(read_estimate(&ignored, &list, index, false));
        TRY(read_number(&number, &one, "class"));
    }
done:
    return status;
}

static sotto_status read_utility(struct report_row *row, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "utility"), without = reader_enter(&at, "unprotected_accuracy");
    row->chance = row->train_accuracy = NAN;
    if (!reader_here(&at))
        return SOTTO_OK;
    TRY(read_estimate(&row->accuracy, &at, "accuracy", false));
    TRY(read_number_if(&row->train_accuracy, &at, "train_accuracy"));
    TRY(read_number_if(&row->chance, &at, "chance"));
    TRY(check_fraction(row->train_accuracy, &at, "train_accuracy"));
    TRY(check_fraction(row->chance, &at, "chance"));
    if (reader_here(&without))
        TRY(read_estimate(&row->unprotected, &at, "unprotected_accuracy", true));
    else if (row->is_protected && !row->certified)
        FAIL(SOTTO_EFORMAT,
             "%s: '%s' is missing; expected the accuracy cost of the protection for every protected model",
             document, without.path);
    TRY(read_draws(&row->accuracy_draws, &at, "draws", "count"));
    TRY(check_classes(&row->classes, &at));
done:
    return status;
}

static sotto_status read_statement(struct report_row *row, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    struct reader at = reader_enter(r, "statement");
    const char *text;
    TRY(read_text_if(&text, r, "statement"));
    row->no_statement = text != NULL;
    if (text && strcmp(text, "none") != 0)
        FAIL(SOTTO_EFORMAT, "%s: '%s' is '%.40s'; expected none", document, at.path, text);
    if (text && row->is_protected)
        FAIL(SOTTO_EFORMAT, "%s: '%s' is none, but the row is protected", document, at.path);
done:
    return status;
}

static sotto_status read_row(struct report_row *row, const struct reader *r)
{
    sotto_status status = SOTTO_OK;
    double records;
    struct reader flag = reader_enter(r, "protected");
    TRY(read_text(&row->name, r, "name"));
    TRY(read_text(&row->title, r, "title"));
    TRY(read_text_if(&row->group, r, "group"));
    TRY(json_get_boolean(&row->is_protected, r->doc, document, flag.path));
    TRY(read_flag_if(&row->evaluation, r, "evaluation"));
    TRY(read_flag_if(&row->certified, r, "certified"));
    TRY(read_statement(row, r));
    TRY(read_number(&records, r, "records"));
    TRY(read_size_if(&row->records, r, "records"));
    TRY(read_number_if(&row->parameters, r, "parameters"));
    TRY(read_number_if(&row->scale, r, "scale"));
    TRY(read_text_if(&row->mechanism, r, "mechanism"));
    if (row->is_protected && !row->mechanism)
        TRY(read_text(&row->mechanism, r, "mechanism"));
    if (row->is_protected && !(row->scale > 0))
        FAIL(SOTTO_EFORMAT, "%s: '%s.scale' is missing or not > 0; a protected row needs it", document,
             r->path);
    TRY(read_sensitivity(row, r));
    TRY(read_guarantee(&row->proved, r, "proved"));
    TRY(read_guarantee(&row->conditional, r, "conditional"));
    if (row->proved.given &&
        (!row->source || (strcmp(row->source, "proved") != 0 && strcmp(row->source, "clipped") != 0)))
        FAIL(SOTTO_EFORMAT,
             "%s: '%s.proved' is given with a %s sensitivity, which is not a proof; expected 'conditional'",
             document, r->path, row->source ? row->source : "missing");
    TRY(read_audit(row, r));
    TRY(read_canaries(row, r));
    TRY(read_utility(row, r));
    TRY(check_texts(&row->notes, r, "notes"));
done:
    return status;
}

static sotto_status read_rows(struct report *r, const struct reader *top)
{
    sotto_status status = SOTTO_OK;
    const struct json *rows;
    TRY(json_get_array(&rows, top->doc, document, "rows"));
    size_t count = json_count(rows);
    if (count == 0 || count > MAX_ROWS)
        FAIL(SOTTO_EFORMAT, "%s: 'rows' has %zu entries; expected 1 to %d", document, count, MAX_ROWS);
    NEW(r->rows, count);
    r->row_count = count;
    for (size_t i = 0; i < count; i++) {
        char path[32];
        const struct json *object;
        snprintf(path, sizeof path, "rows[%zu]", i);
        TRY(json_get_object(&object, top->doc, document, path));
        struct reader at = reader_enter(top, path);
        TRY(read_row(&r->rows[i], &at));
        struct report_row *row = &r->rows[i];
        row->proof_counts =
            row->proved.given && row->proved.all_met && isfinite(row->proved.upper) && !r->insecure_noise;
        row->proof_means = row->proof_counts && row->proved.upper <= largest_meaningful;
        row_judge(row);
    }
done:
    return status;
}

static sotto_status check_training(const struct reader *top)
{
    sotto_status status = SOTTO_OK;
    TRY(check_objects(top, "training", "title", "x"));
    for (size_t i = 0; i < json_count(part(top->doc, "training")); i++) {
        char path[READER_PATH];
        snprintf(path, sizeof path, "training[%zu].series", i);
        const struct json *series;
        TRY(json_get_array(&series, top->doc, document, path));
        TRY(check_objects(top, path, "name", NULL));
        for (size_t k = 0; k < json_count(series); k++) {
            const struct json *points;
            snprintf(path, sizeof path, "training[%zu].series[%zu].points", i, k);
            TRY(json_get_array(&points, top->doc, document, path));
            TRY(check_points(points, path, false));
        }
    }
done:
    return status;
}

/* Members that other documents became (report/document/document_pages.h); one whose module is not built stays unread. */
static sotto_status check_sections(const struct reader *top)
{
    sotto_status status = SOTTO_OK;
    const struct document_section *s;
    for (size_t i = 0; (s = document_section_at(i)); i++) {
        const char *schema;
        char path[READER_PATH];
        if (!part(top->doc, s->key))
            continue;
        snprintf(path, sizeof path, "%s.schema", s->key);
        TRY(json_get_text(&schema, top->doc, document, path));
        if (strcmp(schema, s->schema) != 0)
            FAIL(SOTTO_EFORMAT, "%s: '%s' is not %s", document, path, s->schema);
        TRY(s->check(top));
    }
done:
    return status;
}

sotto_status report_read(struct report *out, const char *text, size_t size)
{
    struct json *doc = NULL;
    const sotto_status status = json_parse(&doc, text, size, document);
    return status == SOTTO_OK ? report_take(out, doc) : status;
}

sotto_status report_take(struct report *out, struct json *doc)
{
    sotto_status status = SOTTO_OK;
    struct report r = {.doc = doc};
    struct reader top = {0}, run = {0}, data = {0};
    const char *schema, *ignored;
    const struct json *warnings;
    top.doc = run.doc = data.doc = r.doc;
    TRY(read_text(&schema, &top, "schema"));
    if (strcmp(schema, "sotto.report/1") != 0)
        FAIL(SOTTO_EFORMAT, "%s: 'schema' is not sotto.report/1", document);
    TRY(read_text(&r.title, &top, "title"));
    run = reader_enter(&top, "run");
    data = reader_enter(&top, "data");
    TRY(read_flag_if(&r.insecure_noise, &run, "insecure_noise"));
    if (reader_here(&data)) {
        struct reader flag = reader_enter(&data, "synthetic");
        TRY(read_text(&ignored, &data, "name"));
        TRY(json_get_boolean(&r.synthetic, r.doc, document, flag.path));
    }
    TRY(read_rows(&r, &top));
    TRY(check_objects(&top, "splits", "name", NULL));
    TRY(check_training(&top));
    TRY(check_sections(&top));
    TRY(sweeps_read(&r.sweeps, r.doc));
    TRY(check_objects(&top, "reproduce.inputs", "name", "sha256"));
    TRY(check_texts(&warnings, &top, "warnings"));
    *out = r;
done:
    if (status != SOTTO_OK)
        report_clear(&r);
    return status;
}

void report_clear(struct report *r)
{
    for (size_t i = 0; i < r->row_count; i++) {
        base_free(r->rows[i].attacks);
        sotto_audit_result_free(&r->rows[i].found);
    }
    base_free(r->rows);
    sweeps_clear(&r->sweeps);
    json_free(r->doc);
    *r = (struct report){0};
}
