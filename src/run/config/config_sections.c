/* The experiment file as one table: members of options structs by their tables, and keys of no struct. */
#include "run/config/config_sections.h"

#include "options/option_tables.h"
#include "run/config/config_network.h"
#include "run/config/run_config.h"

const struct config_members config_pretrain = {
    .section = "pretrain.",
    .table = options_pretrain,
    .keys =
        "method|encoder|epochs|batch|lr|schedule|temperature|loss|min_area|brightness|jitter|augmentation|"
        "vertical_flip|grey|blur|dtype|backend"};
const struct config_members config_head = {.section = "head.",
                                           .table = options_head_recipe,
                                           .keys = "hidden|epochs|batch|lr|clip|bias|lambda|steps|step_size"};

/* Of one noise setting: protect[i]. */
const struct config_members config_protect = {
    .section = "protect[].", .table = options_release, .keys = "scale|epsilon|delta|l1|l2"};
static const struct config_members spend_members = {
    .section = "protect[].", .table = options_spend, .keys = "read_from_data"};
const struct config_members config_private = {
    .section = "protect[].",
    .table = options_head_recipe,
    .keys = "hidden|epochs|batch|lr|clip|bias|lambda|cross|noise|max_grad_norm|momentum",
    .optional = true};
const struct config_members config_private_spend = {
    .section = "protect[].", .table = options_train_privacy, .keys = "adjacency", .optional = true};
const struct config_members config_canary = {
    .section = "protect[].canaries.", .table = options_canary, .keys = "count|kind", .optional = true};
static const struct config_members report_members = {
    .section = "report.", .table = options_audit, .keys = "fpr|confidence"};

/* Top-level, or in each of `cases`. */
static const struct config_row case_rows[] = {
    {"head.trainer", CONFIG_TEXT, .fallback = "adam", .names = "adam|sgd|convex|convex-sgd|convex-lbfgs",
     .help = "convex, convex-sgd and convex-lbfgs have a proved sensitivity"},
    {"head.fine_tune", CONFIG_FLAG, .fallback = "false",
     .help = "encoder trained on the private records too: measured only, no privacy statement"},
    {"sensitivity.pairs", CONFIG_WHOLE, .fallback = "0", .range = "[0,1000000]",
     .help = "number of replace-one pairs for the sampled sensitivity; 0: none"},
    {"protect[].mechanism", CONFIG_TEXT, .names = "logistic|laplace|gaussian",
     .help = "noise on the trained head"},
    {"protect[].trainer", CONFIG_TEXT,
     .names = "dp-sgd|dp-adam|dp-gd|objective|covariance|functional|functional-linear|taylor",
     .help =
         "instead of mechanism: a private training of its own, for epsilon, with the keys from hidden on"},
    {.path = NULL}};
/* Behind the keys of a private training. */
static const struct config_row canary_rows[] = {
    {"protect[].canaries.guesses", CONFIG_WHOLE, .range = "[1,500000]",
     .help = "number of guesses about the coins of the canaries, on each side; fixed beforehand"},
    {"protect[].canaries.access", CONFIG_TEXT, .names = "white-box|black-box",
     .help = "white-box: an observer of all steps (dirac); black-box: the answers of the trained model"},
    {.path = NULL}};
static const struct config_row case_rows_after[] = {
    {"shadow.heads", CONFIG_WHOLE, .fallback = "0", .range = "[0,4096]",
     .help = "number of shadow heads on random halves, for LiRA and RMIA; even; 0: none"},
    {"shadow.known_start", CONFIG_FLAG, .fallback = "false",
     .help = "shadow heads with the target's own seed, the worst case"},
    {"sweep.mechanisms", CONFIG_TEXTS, .fallback = "[logistic, laplace, gaussian]"},
    {"sweep.epsilons", CONFIG_REALS, .fallback = "[]", .range = "(0,inf)",
     .help = "target epsilons, measured over draws of the noise, never released"},
    {"sweep.scales", CONFIG_REALS, .fallback = "[]", .range = "(0,inf)"},
    {"sweep.delta", CONFIG_REAL, .fallback = "1e-5", .range = "(0,1)"},
    {"sweep.paper_norms", CONFIG_FLAG, .fallback = "false"},
    {.path = NULL}};

static const struct config_row first_rows[] = {
    {"name", CONFIG_TEXT, .required = true, .help = "folder below runs/"},
    {"title", CONFIG_TEXT, .help = "title of the report"},
    {"seed", CONFIG_WHOLE, .fallback = "1",
     .help = "seed of initial weights, order, augmentation and splits; never of privacy noise"},
    {"data.set", CONFIG_TEXT, .fallback = "fashion-mnist"},
    {"data.public_set", CONFIG_TEXT,
     .help = "data set for pre-training (such as STL-10's unlabelled part); default: a part of data.set"},
    {"data.public", CONFIG_WHOLE, .fallback = "20000", .range = "[2,inf)",
     .help = "number of records for pre-training"},
    {"data.private", CONFIG_WHOLE, .fallback = "1000", .range = "[2,inf)"},
    {"data.heldout", CONFIG_WHOLE, .fallback = "10000", .range = "[2,inf)"},
    {"data.shadow", CONFIG_WHOLE, .fallback = "0"},
    {"data.classes", CONFIG_WHOLE, .range = "[2,65536]",
     .help =
         "public number of classes, for releases from a set with a description that does not state it; never "
         "read off the records"},
    {.path = NULL}};
static const struct config_row encoder_rows[] = {
    {"encoder.evaluate", CONFIG_FLAG, .fallback = "true",
     .help = "k-NN and linear head, fitted on the private part, tested on the held-out part"},
    {.path = NULL}};
static const struct config_row list_rows[] = {
    {"cases[].name", CONFIG_TEXT, .required = true},
    {"cases[].title", CONFIG_TEXT, .help = "title of the case in the report"},
    {"cases[].records", CONFIG_WHOLE, .required = true, .range = "[2,inf)",
     .help = "number of private records for this case"},
    {.path = NULL}};
static const struct config_row last_rows[] = {
    {"attack.names", CONFIG_TEXTS, .fallback = "[loss, confidence, entropy, modified-entropy]"},
    {"evaluate.draws", CONFIG_WHOLE, .fallback = "20", .range = "[0,100000]",
     .help = "draws of the noise for each setting, to measure the spread"},
    {.path = NULL}};

static void add_case_rows(struct config_rows *out, const char *prefix)
{
    config_rows_add_members(out, prefix, &config_head);
    config_rows_add(out, prefix, case_rows);
    config_rows_add_members(out, prefix, &config_protect);
    config_rows_add_members(out, prefix, &spend_members);
    config_rows_add_members(out, prefix, &config_private);
    config_rows_add_members(out, prefix, &config_private_spend);
    config_network_rows(out, prefix);
    config_rows_add_members(out, prefix, &config_canary);
    config_rows_add(out, prefix, canary_rows);
    config_rows_add(out, prefix, case_rows_after);
}

void run_config_rows(struct config_rows *out)
{
    out->count = 0;
    config_rows_add(out, "", first_rows);
    config_rows_add_members(out, "", &config_pretrain);
    config_rows_add(out, "", encoder_rows);
    add_case_rows(out, "");
    config_rows_add(out, "", list_rows);
    add_case_rows(out, "cases[].");
    config_rows_add(out, "", last_rows);
    config_rows_add_members(out, "", &report_members);
}
