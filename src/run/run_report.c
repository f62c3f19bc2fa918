/* report.json from the stages' results (docs/FORMATS.md, sotto.report/1), then the page. */
#include "data/set/split.h"
#include "run/stages/run_canaries.h"

#include "base/cpu.h"
#include "io/table/metric_log.h"
#include "par/par.h"
#include "report/report_write.h"
#include "sotto/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct json *dpsgd_facts(const struct run *r)
{
    struct json *j = json_make_object();
    const struct json *pretrain = run_result(r, "pretrain"),
                      *stages = json_member(r->folder.document, "stages");
    double seconds = 0;
    for (const char *name = json_first_key(stages); name; name = json_next_key(stages, name))
        seconds += json_number(json_member(json_member(stages, name), "seconds"));
    char created[32];
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    struct tm utc;
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_put_text(&j, "name", r->config.name);
    json_put_text(&j, "version", sotto_version());
    json_put_text(&j, "created", created);
    json_put_text(&j, "isa", cpu_isa_name(cpu_best_isa()));
    json_put_text(&j, "dtype", json_text(json_member(pretrain, "dtype")));
    json_put_text(&j, "backend", json_text(json_member(pretrain, "backend")));
    json_put_integer(&j, "threads", par_threads(r->ctx));
    json_put_integer(&j, "seed", (int64_t)r->config.seed);
    if (!epoch) /* else the same experiment makes the same bytes, with any workers and in any time */
        json_put_real(&j, "seconds", seconds);
    json_put_boolean(&j, "insecure_noise", r->options->insecure != 0);
    return j;
}

static struct json *data_facts(const struct run *r)
{
    const struct sotto_dataset *d = r->data;
    struct json *j = json_make_object();
    char shape[64];
    snprintf(shape, sizeof shape, "%zux%zux%zu", d->channels, d->height, d->width);
    json_put_text(&j, "name", d->name);
    json_put_text(&j, "title", d->title);
    json_put_text(&j, "origin", d->origin);
    json_put_text(&j, "sha256", d->sha256);
    json_put_boolean(&j, "synthetic", d->synthetic || r->public_data->synthetic);
    json_put_integer(&j, "records", (int64_t)d->n);
    json_put_integer(&j, "classes", (int64_t)d->classes);
    json_put_text(&j, "shape", shape);
    return j;
}

static struct json *split_facts(const struct run *r)
{
    static const char *const uses[SPLIT_PARTS] = {
        "pre-trains the encoder; treated as public",
        "trains the heads, each on a disjoint slice; serves as members in attacks",
        "never used in training; measures accuracy, and serves as non-members in attacks",
        "kept for shadow models"};
    struct json *list = json_make_array();
    char text[160];
    for (int part = 0; part < SPLIT_PARTS; part++) {
        if (r->split.n[part] == 0)
            continue;
        struct json *j = json_make_object();
        json_put_text(&j, "name", part_name((enum split_part)part));
        json_put_integer(&j, "records", (int64_t)r->split.n[part]);
        snprintf(text, sizeof text, "%s; images of %s", uses[part], r->public_data->name);
        json_put_text(&j, "use", part == SPLIT_PUBLIC && r->public_data != r->data ? text : uses[part]);
        json_push(&list, j);
    }
    return list;
}

static struct json *encoder_facts(const struct run *r)
{
    struct json *j = json_make_object();
    char text[64];
    snprintf(text, sizeof text, "%zu public images, %zu epochs", r->split.n[SPLIT_PUBLIC],
             r->config.pretrain.epochs);
    json_put_text(&j, "name", r->config.pretrain.encoder);
    json_put_text(&j, "method", r->config.pretrain.method);
    json_put_integer(&j, "dimension", (int64_t)r->width);
    json_put_text(&j, "trained_on", text);
    const struct json *pretrain = run_result(r, "pretrain"), *quality = run_result(r, "encoder");
    json_put(&j, "pretext_accuracy", json_clone(json_member(pretrain, "accuracy")));
    if (!getenv("SOURCE_DATE_EPOCH"))
        json_put(&j, "images_per_second", json_clone(json_member(pretrain, "images_per_second")));
    if (quality) {
        json_put(&j, "knn_accuracy", json_clone(json_member(quality, "knn_accuracy")));
        json_put(&j, "linear_accuracy", json_clone(json_member(quality, "linear_accuracy")));
    }
    return j;
}

static const struct json *stage_result(const struct run *r, const char *kind, const char *name)
{
    char stage[RUN_NAME + 48];
    snprintf(stage, sizeof stage, "%s/%s", kind, name);
    return run_result(r, stage);
}

static void put_sensitivity(struct json **row, const struct run *r, const struct run_model *m,
                            const struct json *release)
{
    const struct json *sample = stage_result(r, "sensitivity", r->config.cases[m->index].name);
    struct json *j = json_make_object();
    const struct json *used = json_member(release, "sensitivity");
    const char *source = json_text(json_member(used, "source"));
    json_put_text(&j, "source", source);
    json_put(&j, "l1", json_clone(json_member(used, "l1")));
    json_put(&j, "l2", json_clone(json_member(used, "l2")));
    if (source && strcmp(source, "sampled") == 0 && sample) {
        char note[160];
        json_put(&j, "pairs", json_clone(json_member(sample, "pairs")));
        snprintf(note, sizeof note,
                 "largest change over %lld random replace-one pairs; a new random pair exceeds it with "
                 "probability at most %.3g",
                 (long long)json_whole(json_member(sample, "pairs")),
                 json_number(json_member(sample, "gamma_exchangeable")));
        json_put_text(&j, "note", note);
    }
    json_put(row, "sensitivity", j);
}

/* The column is the certificate's: proved, or conditional on a sensitivity that is not proved, or none at
 * all. */
static void put_guarantee(struct json **row, const struct json *release, bool has_encoder)
{
    const struct json *guarantee = json_member(release, "guarantee");
    const struct json *proved = json_member(guarantee, "proved"),
                      *conditional = json_member(guarantee, "conditional");
    bool is_proved = proved && json_kind(proved) == JSON_KIND_OBJECT;
    const struct json *account = is_proved ? proved : conditional;
    if (!account || json_kind(account) != JSON_KIND_OBJECT)
        return; /* seeded noise guarantees nothing */
    static const char *const members[] = {"epsilon", "delta", "accountant", "adjacency"};
    struct json *j = json_make_object(), *assumptions = json_make_array();
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        json_put(&j, members[i], json_clone(json_member(account, members[i])));
    if (is_proved)
        report_assume(&assumptions, "The sensitivity bound is enforced by the trainer.", true);
    else
        report_assume_conditions(&assumptions, json_text(json_member(account, "condition")));
    if (has_encoder)
        report_assume(&assumptions, "The encoder was trained on public records only.", true);
    json_put(&j, "assumptions", assumptions);
    json_put(row, is_proved ? "proved" : "conditional", j);
}

static void put_utility(struct json **row, const struct run *r, const struct run_model *m,
                        const struct json *measure)
{
    struct json *j = json_make_object();
    json_put(&j, "accuracy", json_clone(json_member(measure, "accuracy")));
    json_put(&j, "train_accuracy", json_clone(json_member(measure, "train_accuracy")));
    json_put_real(&j, "chance", 1.0 / (double)r->classes);
    if (json_member(measure, "classes"))
        json_put(&j, "classes", json_clone(json_member(measure, "classes")));
    if (m->protection >= 0) {
        struct run_model plain;
        run_model_name(&plain, r, m->index, -1);
        json_put(&j, "unprotected_accuracy",
                 json_clone(json_member(stage_result(r, "measure", plain.name), "accuracy")));
        if (json_member(measure, "draws_accuracy"))
            json_put(&j, "draws", json_clone(json_member(measure, "draws_accuracy")));
    }
    json_put(row, "utility", j);
}

static sotto_status put_attacks(struct json **row, const struct run *r, const struct run_model *m,
                                const struct json *measure)
{
    sotto_status status = SOTTO_OK;
    char name[RUN_NAME + 64], path[RUN_PATH];
    struct json *attacks = NULL;
    snprintf(name, sizeof name, "attacks/%s.json", m->name);
    TRY(run_folder_path(path, &r->folder, name));
    TRY(json_read_file(&attacks, path));
    json_put(row, "measured", attacks);
    const struct json *draws = json_member(measure, "draws_auc");
    if (draws) {
        struct json *j = json_clone(draws);
        json_put_text(&j, "attack", "loss");
        json_put(row, "measured_draws", j);
    }
done:
    return status;
}

enum { TITLE = 256 };

/* A private training of its own. Its noise is of another scale than that of the other rows, so it is in another group. */
static void put_trained(struct json **row, char title[TITLE], const struct run_case *c,
                        const struct run_protection *p)
{
    const struct run_network *n = p->network;
    const char *base = c->title[0] ? c->title : c->name;
    char group[2 * RUN_NAME];
    if (n) {
        snprintf(title, TITLE, "%s: %s, trained by %s for epsilon %g", base, run_network_title(n),
                 p->mechanism, p->release.target.epsilon);
        snprintf(group, sizeof group, "%s, %s, %s", c->name, run_network_title(n), p->mechanism);
        json_put(row, "hidden", json_make_counts(n->training.hidden, n->training.hidden_count));
    } else {
        snprintf(title, TITLE, "%s, trained by %s for epsilon %g", base, p->mechanism,
                 p->release.target.epsilon);
        snprintf(group, sizeof group, "%s, %s", c->name, p->mechanism);
        json_put(row, "hidden", json_make_counts(p->recipe.hidden, p->recipe.hidden_count));
    }
    json_put_text(row, "group", group);
}

static sotto_status put_row(struct json **rows, const struct run *r, size_t index, long protection)
{
    sotto_status status = SOTTO_OK;
    const struct run_case *c = &r->config.cases[index];
    struct run_model m;
    struct json *row = json_make_object();
    char title[TITLE];
    run_model_name(&m, r, index, protection);
    const struct json *measure = stage_result(r, "measure", m.name), *head = stage_result(r, "head", c->name);
    const char *base = c->title[0] ? c->title : c->name;
    json_put_text(&row, "name", m.name);
    json_put_text(&row, "group", c->name);
    json_put_boolean(&row, "protected", protection >= 0);
    json_put_integer(&row, "records", (int64_t)c->records);
    json_put(&row, "hidden", json_make_counts(c->recipe.hidden, c->recipe.hidden_count));
    json_put(&row, "parameters", json_clone(json_member(head, "parameters")));
    snprintf(title, sizeof title, "%s", base);
    if (c->fine_tune) {
        snprintf(title, sizeof title, "%s (encoder fine-tuned too: no statement)", base);
        json_put_text(&row, "statement", "none");
    }
    if (protection >= 0) {
        const struct run_protection *p = &c->protections[protection];
        const struct json *release = stage_result(r, "protect", m.name);
        double scale = json_number(json_member(release, "scale"));
        if (p->trained) {
            put_trained(&row, title, c, p);
            json_put(&row, "parameters", json_clone(json_member(release, "parameters")));
        } else if (isnan(p->release.target.epsilon))
            snprintf(title, sizeof title, "%s, %s noise of scale %.3g", base, p->mechanism, scale);
        else
            snprintf(title, sizeof title, "%s, %s noise for epsilon %g", base, p->mechanism,
                     p->release.target.epsilon);
        json_put_text(&row, "mechanism", p->mechanism);
        json_put_real(&row, "scale", scale);
        put_sensitivity(&row, r, &m, release);
        put_guarantee(&row, release, !p->network || p->network->training.from);
    }
    json_put_text(&row, "title", title);
    put_utility(&row, r, &m, measure);
    TRY(put_attacks(&row, r, &m, measure));
    struct json *canaries = NULL;
    TRY(run_canaries_facts(&canaries, r, &m));
    if (canaries)
        json_put(&row, "canaries", canaries);
    json_push(rows, row);
    row = NULL;
done:
    json_free(row);
    return status;
}

/* Curves of a case follow one another. */
static void put_sweeps(struct json **report, const struct run *r)
{
    struct json *list = json_make_array();
    for (size_t i = 0; i < r->config.case_count; i++) {
        const struct run_case *c = &r->config.cases[i];
        for (size_t k = 0; k < c->sweep.mechanism_count * RUN_NORMS; k++) {
            char name[RUN_NAME + 80];
            run_sweep_name(name, c, k / RUN_NORMS, k % RUN_NORMS);
            const struct json *result = run_result(r, name);
            if (!result)
                continue;
            struct json *curve = json_clone(result);
            json_put_text(&curve, "title", c->title[0] ? c->title : c->name);
            json_push(&list, curve);
        }
    }
    if (json_count(list) > 0)
        json_put(report, "sweeps", list);
    else
        json_free(list);
}

static struct json *run_report_reproduce(const struct run *r, const char *resolved)
{
    struct json *j = json_make_object(), *inputs = json_make_array(), *input = json_make_object(),
                *versions = json_make_object();
    json_put_text(&j, "command",
                  r->options->command_line ? r->options->command_line : "sotto run config.resolved.yaml");
    json_put_text(&j, "config", resolved);
    json_put_text(&j, "config_name", "config.resolved.yaml");
    json_put_text(&input, "name", r->data->name);
    json_put_text(&input, "sha256", r->data->sha256);
    json_push(&inputs, input);
    if (r->public_data != r->data) {
        struct json *other = json_make_object();
        json_put_text(&other, "name", r->public_data->name);
        json_put_text(&other, "sha256", r->public_data->sha256);
        json_push(&inputs, other);
    }
    json_put(&j, "inputs", inputs);
    json_put_text(&versions, "sotto", sotto_version_line());
    json_put(&j, "versions", versions);
    return j;
}

sotto_status run_report(struct run *r)
{
    sotto_status status = SOTTO_OK;
    char path[RUN_PATH], title[192];
    unsigned char *resolved = NULL;
    size_t size;
    struct json *report = json_make_object(), *rows = json_make_array(), *training = NULL, *doc;
    TRY(run_folder_path(path, &r->folder, "config.resolved.yaml"));
    TRY(file_read(&resolved, &size, path, 1 << 20));
    snprintf(title, sizeof title, "%s", r->config.title[0] ? r->config.title : r->config.name);
    json_put_text(&report, "schema", "sotto.report/1");
    json_put_text(&report, "title", title);
    json_put(&report, "run", dpsgd_facts(r));
    json_put(&report, "data", data_facts(r));
    json_put(&report, "splits", split_facts(r));
    json_put(&report, "encoder", encoder_facts(r));
    for (size_t i = 0; i < r->config.case_count; i++)
        for (long p = -1; p < (long)r->config.cases[i].protection_count; p++)
            TRY(put_row(&rows, r, i, p));
    json_put(&report, "rows", rows);
    rows = NULL;
    put_sweeps(&report, r);
    TRY(run_training_curves(&training, r));
    json_put(&report, "training", training);
    training = NULL;
    json_put(&report, "reproduce", run_report_reproduce(r, (const char *)resolved));
    if (!report)
        FAIL(SOTTO_ENOMEM, "report: out of memory for the document");
    doc = report, report = NULL;
    TRY(report_write(r->folder.path, doc, NULL));
    TRY(run_folder_path(path, &r->folder, "metrics.jsonl"));
    if (file_exists(path)) {
        char csv[RUN_PATH];
        TRY(run_folder_path(csv, &r->folder, "metrics.csv"));
        TRY(metric_log_export(csv, path));
    }
done:
    base_free(resolved);
    json_free(training);
    json_free(rows);
    json_free(report);
    return status;
}
