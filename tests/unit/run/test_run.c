/* src/run: the experiment file and the run folder. */
#include "support/test.h"

#include "run/stages/run_answers.h"
#include "run/config/run_config.h"
#include "run/run_folder/run_folder.h"
#include "sotto/account.h"
#include "sotto/lab/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sotto_status read_text(struct run_config *out, const char *text, const char *const *overrides)
{
    char *resolved = NULL;
    sotto_status status = run_config_read(out, &resolved, NULL, text, "run.yaml", overrides);
    sotto_text_free(resolved);
    return status;
}

TEST(the_demo_is_a_valid_experiment)
{
    struct run_config c;
    assert_int_equal(read_text(&c, sotto_demo_config(), NULL), SOTTO_OK);
    assert_int_equal(c.case_count, 2);
    assert_int_equal(c.cases[1].recipe.hidden_count, 1);
    assert_int_equal(c.cases[1].recipe.hidden[0], 512);
    assert_int_equal(c.cases[0].recipe.hidden_count, 0);
    assert_true(isnan(c.cases[1].protections[0].release.target.epsilon));
    assert_true(c.cases[0].protections[2].release.target.epsilon == 1);
    assert_true(c.cases[0].protections[2].release.target.delta == 1e-5);
    const struct run_protection *p = &c.cases[0].protections[1];
    assert_true(p->trained && !c.cases[0].protections[2].trained);
    assert_string_equal(p->recipe.trainer, "dp-sgd");
    assert_true(p->release.target.epsilon == 3 && p->recipe.batch == 2048 && p->recipe.momentum == 0.9);
    assert_true(p->recipe.seed == 1 && p->recipe.clip == 0 && p->recipe.noise == NULL); /* not given */
}

TEST(a_resolved_config_reads_back_the_same)
{
    struct run_config first, second;
    char *resolved = NULL, *again = NULL;
    const char *const overrides[] = {"seed=7", "cases[0].head.epochs=3", NULL};
    assert_int_equal(run_config_read(&first, &resolved, NULL, sotto_demo_config(), "demo.yaml", overrides),
                     SOTTO_OK);
    assert_int_equal(first.seed, 7);
    assert_int_equal(first.cases[0].recipe.epochs, 3);
    assert_int_equal(run_config_read(&second, &again, NULL, resolved, "config.resolved.yaml", NULL),
                     SOTTO_OK);
    assert_string_equal(resolved, again);
    sotto_text_free(resolved);
    sotto_text_free(again);
}

TEST(mistakes_name_their_place)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"name: x\nprotect:\n  - {mechanism: logistic, epsilonn: 1}\n",
         "run.yaml:3:27: unknown key 'epsilonn' under protect[0]; did you mean 'epsilon'?"},
        {"name: x\nsensitivity: {pairs: 2}\nprotect:\n  - {mechanism: logistic}\n",
         "protect[0] needs exactly one of scale and epsilon"},
        {"name: x\nprotect:\n  - {mechanism: logistic, scale: 1}\n", "protect[0] has no sensitivity"},
        {"name: ../x\n", "name is '../x'; expected letters"},
        {"name: x\ndata: {private: 10}\ncases:\n"
         "  - {name: a, records: 8, protect: [{mechanism: logistic, scale: 1, l1: 1}]}\n"
         "  - {name: c, records: 10}\n"
         "  - {name: b, records: 3, protect: [{mechanism: logistic, scale: 1, l1: 1}]}\n",
         "cases[2].records is 3, but only 2 of data.private = 10 records are left"},
        {"name: x\ndata: {private: 10}\ncases:\n  - {name: a, records: 11}\n",
         "cases[0].records is 11, but only 10 of data.private = 10 records are left"},
        {"name: x\ndata: {private: 10}\ncases:\n  - {name: a, records: 2}\n  - {name: a, records: 3}\n",
         "cases[1].name 'a' is used twice"},
        {"name: x\nhead: {epochs: 3}\ndata: {private: 10}\ncases:\n  - {name: a, records: 2}\n", "not both"},
        {"name: x\npretrain: {batch: 512}\ndata: {public: 100}\n",
         "pretrain.batch is 512 but data.public has only 100 images"},
        {"seed: 1\n", "'name' is missing"},
        {"name: x\nhead: {fine_tune: true}\nsensitivity: {pairs: 2}\n",
         "head.fine_tune: an encoder trained on private records has no privacy statement; omit sensitivity, "
         "protect, shadow and sweep"},
        {"name: x\nhead: {fine_tune: true}\nshadow: {heads: 4}\n",
         "head.fine_tune: an encoder trained on private records has no privacy statement; omit sensitivity, "
         "protect, shadow and sweep"},
        {"name: x\nhead: {fine_tune: true}\nprotect: [{mechanism: logistic, scale: 1, l1: 1}]\n",
         "head.fine_tune: an encoder trained on private records has no privacy statement; omit sensitivity, "
         "protect, shadow and sweep"},
        {"name: x\nhead: {fine_tune: true}\nsweep: {scales: [1]}\n",
         "head.fine_tune: an encoder trained on private records has no privacy statement; omit sensitivity, "
         "protect, shadow and sweep"},
        {"name: x\ndata: {private: 10}\nsensitivity: {pairs: 46}\n",
         "sensitivity.pairs is 46, but 10 records have only 45 distinct pairs"},
        {"name: x\nhead: {fine_tune: true, trainer: sgd}\n",
         "head.fine_tune needs trainer adam, with at most"},
        {"name: x\nhead: {fine_tune: true, hidden: [8, 8, 8, 8]}\n", "with at most 3 hidden layers"},
        {"name: x\nprotect: [{epsilon: 1}]\n", "protect[0] has no mechanism and no trainer"},
        {"name: x\nprotect: [{trainer: dp-sgd}]\n",
         "protect[0].epsilon is missing; a private training needs it"},
        {"name: x\nprotect: [{trainer: dp-sgd, mechanism: logistic, epsilon: 1}]\n",
         "protect[0].mechanism is of noise on a trained head"},
        {"name: x\nprotect: [{trainer: dp-sgd, epsilon: 1, scale: 2}]\n",
         "protect[0].scale is of noise on a trained head"},
        {"name: x\nprotect: [{mechanism: logistic, scale: 1, l1: 1, lr: 3}]\n",
         "protect[0].lr is of a private training; expected it beside 'trainer'"},
        {"name: x\nprotect: [{trainer: adam, epsilon: 1}]\n", "protect[0].trainer"},
        {"name: x\ndata: {private: 10}\nprotect: [{trainer: dp-sgd, epsilon: 1, batch: 11}]\n",
         "protect[0].batch is 11, but the case has only 10 records"},
        {"name: x\nprotect:\n  - {trainer: dp-sgd, model: cnm, epsilon: 1}\n",
         "run.yaml:3:6: protect[0]: model 'cnm' is unknown"},
        {"name: x\nprotect:\n  - {trainer: dp-sgd, model: cnn, epsilom: 1}\n",
         "run.yaml:3:35: unknown key 'epsilom' under protect[0]; did you mean 'epsilon'?"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn}]\n",
         "protect[0].epsilon is missing; a private training needs it"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, epsilon: -1}]\n", "protect[0].epsilon must be"},
        {"name: x\nprotect: [{trainer: covariance, model: cnn, epsilon: 1}]\n",
         "protect[0].trainer is 'covariance', which trains heads only"},
        {"name: x\nprotect: [{model: cnn, epsilon: 1}]\n", "protect[0] has no mechanism and no trainer"},
        {"name: x\nprotect: [{mechanism: logistic, scale: 1, l1: 1, model: cnn}]\n",
         "protect[0].model is of a private training; expected it beside 'trainer'"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, epsilon: 1, lambda: 1}]\n",
         "protect[0].lambda is of a head; expected it without 'model' and 'from'"},
        {"name: x\nprotect: [{trainer: dp-sgd, epsilon: 1, crop: 2}]\n",
         "protect[0].crop is of a whole network; expected it beside 'model' or 'from'"},
        {"name: x\nprotect: [{trainer: dp-sgd, from: other, epsilon: 1}]\n",
         "protect[0].from is 'other'; expected 'encoder'"},
        {"name: x\nprotect: [{trainer: dp-sgd, from: encoder, model: cnn, epsilon: 1}]\n",
         "protect[0].from: an encoder decides its model"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, freeze: all, epsilon: 1}]\n",
         "protect[0]: freeze 'all' needs a pre-trained encoder"},
        {"name: x\nprotect: [{trainer: dp-sgd, from: encoder, freeze: some, epsilon: 1}]\n",
         "protect[0]: freeze 'some' is unknown; expected none, norm, all"},
        {"name: x\nprotect: [{trainer: dp-sgd, from: encoder, hidden: [8], epsilon: 1}]\n",
         "protect[0]: hidden widths are those of the pre-trained encoder"},
        {"name: x\nprotect: [{trainer: dp-adam, model: mlp, momentum: 0.9, epsilon: 1}]\n",
         "protect[0]: momentum cannot be given for optimizer adam"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, clipping: soft, epsilon: 1}]\n",
         "protect[0]: clipping 'soft' is unknown"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, noise: laplace, epsilon: 1}]\n", "protect[0]"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, views: 2, epsilon: 1}]\n",
         "protect[0]: views: 2 views without flip or crop are all the same"},
        {"name: x\nprotect: [{trainer: dp-sgd, model: cnn, sampling: some, epsilon: 1}]\n",
         "protect[0].sampling"},
        {"name: x\ndata: {private: 10}\nprotect: [{trainer: dp-sgd, model: cnn, epsilon: 1, batch: 11}]\n",
         "protect[0]: batch 11, the expected size of a sample, is larger than the 10 records"},
        {"name: x\ndata: {classes: 1}\n", "data.classes must be"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static struct run_config c;
        assert_int_equal(read_text(&c, rows[i].text, NULL), SOTTO_ECONFIG);
        if (!strstr(sotto_error_text(), rows[i].error))
            fail_msg("'%s' does not contain '%s'", sotto_error_text(), rows[i].error);
    }
}

TEST(a_row_may_train_a_network)
{
    static struct run_config c;
    static const char text[] =
        "name: x\n"
        "seed: 0\n"
        "data: {classes: 7}\n"
        "protect:\n"
        "  - {trainer: dp-sgd, model: resnet8, epsilon: 1, batch: 50, lr: 2, momentum: 0.9, max_grad_norm: "
        "0.5,\n"
        "     clipping: quantile, quantile: 0.25, views: 2, flip: true, crop: 3, sampling: fixed, average: "
        "0.99}\n"
        "  - {trainer: dp-adam, from: encoder, freeze: 2, warm_up: 5, epsilon: 3, delta: 1.0e-4}\n"
        "  - {trainer: dp-sgd, epsilon: 1}\n";
    assert_int_equal(read_text(&c, text, NULL), SOTTO_OK);
    assert_int_equal(c.classes, 7);
    const struct run_protection *p = c.cases[0].protections;
    const struct run_network *n = p[0].network;
    assert_true(p[0].trained && n && p[1].network && !p[2].network);
    assert_string_equal(n->training.model, "resnet8");
    assert_string_equal(n->training.norm, "group");
    assert_string_equal(n->training.optimizer, "sgd");
    assert_string_equal(n->training.dtype, "f32");
    assert_true(n->training.seed == SOTTO_SEED_ZERO && n->training.batch == 50 && n->training.lr == 2);
    assert_true(n->training.flip == 1 && n->training.crop == 3 && n->privacy.views == 2);
    assert_string_equal(n->privacy.clipping, "quantile");
    assert_true(n->privacy.quantile == 0.25 && n->privacy.max_grad_norm == 0.5);
    assert_true(n->privacy.average == 0.99 && n->privacy.sampling == SOTTO_SAMPLING_FIXED);
    n = p[1].network;
    assert_string_equal(n->training.from, "encoder");
    assert_string_equal(n->training.freeze, "2");
    assert_string_equal(n->training.optimizer, "adam");
    assert_true(n->training.warm_up == 5 && !n->training.model);
    assert_true(p[1].release.target.epsilon == 3 && p[1].release.target.delta == 1e-4);
}

TEST(utility_loss_at_its_edges)
{
    assert_true(run_utility_loss(0.5, 0.5) == 0);
    assert_true(run_utility_loss(0, 0.5) == 1);
    assert_true(fabs(run_utility_loss(0.45, 0.5) - 0.1) < 1e-15);
    assert_true(fabs(run_utility_loss(0.6, 0.5) + 0.2) < 1e-15); /* noise may help */
    assert_true(isnan(run_utility_loss(0, 0)) && isnan(run_utility_loss(0.1, 0)));
    assert_true(isnan(run_utility_loss(0.1, NAN)));
}

static struct folder_state {
    char path[64];
} test_folder;

static int make_folder(void **state)
{
    (void)state;
    strcpy(test_folder.path, "/tmp/sotto-run-XXXXXX");
    return mkdtemp(test_folder.path) ? 0 : 1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", test_folder.path);
    return system(command);
}

static struct json *key_with(int64_t x)
{
    struct json *key = json_make_object();
    json_put_integer(&key, "x", x);
    return key;
}

static void write_output(const struct run_folder *f, const char *text)
{
    char path[RUN_PATH];
    assert_int_equal(run_folder_path(path, f, "models/a.bin"), SOTTO_OK);
    assert_int_equal(file_write(path, text, strlen(text)), SOTTO_OK);
}

TEST(stages_are_reused_only_while_nothing_changed, .before = make_folder, .after = remove_folder)
{
    struct folder_state *s = &test_folder;
    static const char *const outputs[] = {"models/a.bin", NULL};
    struct run_folder f;
    struct run_stage stage;
    assert_int_equal(run_folder_open(&f, s->path, NULL), SOTTO_OK);
    assert_int_equal(run_stage_begin(&stage, &f, "head", key_with(1)), SOTTO_OK);
    assert_false(stage.reused);
    write_output(&f, "weights");
    struct json *result = json_make_object();
    json_put_real(&result, "accuracy", 0.5);
    assert_int_equal(run_stage_end(&stage, &f, outputs, result), SOTTO_OK);
    run_folder_close(&f);

    assert_int_equal(run_folder_open(&f, s->path, NULL), SOTTO_OK);
    assert_int_equal(run_stage_begin(&stage, &f, "head", key_with(1)), SOTTO_OK);
    assert_true(stage.reused);
    assert_true(json_number(json_member(stage.result, "accuracy")) == 0.5);
    assert_int_equal(run_stage_begin(&stage, &f, "head", key_with(2)), SOTTO_OK);
    assert_false(stage.reused);
    write_output(&f, "weightz"); /* the file was changed */
    assert_int_equal(run_stage_begin(&stage, &f, "head", key_with(1)), SOTTO_OK);
    assert_false(stage.reused);
    run_folder_close(&f);
}

/* No stage may touch what pre-training on public images left. */
TEST(a_changed_encoder_is_noticed, .before = make_folder, .after = remove_folder)
{
    struct folder_state *s = &test_folder;
    static const char *const outputs[] = {"models/encoder.safetensors", NULL};
    struct run r = {0};
    struct run_stage stage;
    char path[RUN_PATH];
    assert_int_equal(run_folder_open(&r.folder, s->path, NULL), SOTTO_OK);
    assert_int_equal(run_folder_path(path, &r.folder, outputs[0]), SOTTO_OK);
    assert_int_equal(file_write(path, "weights", 7), SOTTO_OK);
    assert_int_equal(run_stage_begin(&stage, &r.folder, "pretrain", key_with(1)), SOTTO_OK);
    assert_int_equal(run_stage_end(&stage, &r.folder, outputs, NULL), SOTTO_OK);
    assert_int_equal(run_check_encoder(&r), SOTTO_OK);
    assert_int_equal(file_write(path, "weightz", 7), SOTTO_OK);
    assert_int_equal(run_check_encoder(&r), SOTTO_EINVAL);
    assert_non_null(
        strstr(sotto_error_text(),
               "was changed during the experiment; expected the encoder of the heads and embeddings"));
    run_folder_close(&r.folder);
}

TEST(one_process_at_a_time, .before = make_folder, .after = remove_folder)
{
    struct folder_state *s = &test_folder;
    struct run_folder first, second;
    assert_int_equal(run_folder_open(&first, s->path, NULL), SOTTO_OK);
    assert_int_equal(run_folder_open(&second, s->path, NULL), SOTTO_EAGAIN);
    run_folder_close(&first);
    assert_int_equal(run_folder_open(&second, s->path, NULL), SOTTO_OK);
    run_folder_close(&second);
}

TEST(a_foreign_run_json_is_refused, .before = make_folder, .after = remove_folder)
{
    struct folder_state *s = &test_folder;
    struct run_folder f;
    char path[RUN_PATH];
    assert_int_equal(path_join(path, sizeof path, s->path, "run.json"), SOTTO_OK);
    assert_int_equal(file_write(path, "{\"schema\": \"other/1\"}", 21), SOTTO_OK);
    assert_int_equal(run_folder_open(&f, s->path, NULL), SOTTO_EFORMAT);
    assert_int_equal(file_write(path, "{\"sch", 5), SOTTO_OK);
    assert_int_equal(run_folder_open(&f, s->path, NULL), SOTTO_EFORMAT);
}
