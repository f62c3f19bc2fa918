/* sotto monitor: a log of queries, or a served model behind it, judged by the conformal detector. */
#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "sotto/lab/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {OPTION_TABLE("monitor_input", NULL),
                                         OPTION_TABLE("monitor", NULL),
                                         OPTION_TABLE("monitor_service", NULL),
                                         OPTION_TABLE("command", NULL),
                                         OPTION_GROUP("Output"),
                                         {"output", OPTION_TEXT, "FILE", NULL, "monitor.json to write"},
                                         OPTION_END};

struct monitor_inputs {
    struct sotto_monitor_input input; /* points into what follows */
    struct sotto_array calibration, clients, answers, bank, training;
    struct sotto_provenance source[3];
    struct sotto_encoder *encoder;
};

static void verb_monitor_clear(struct monitor_inputs *in)
{
    sotto_array_clear(&in->calibration);
    sotto_array_clear(&in->clients);
    sotto_array_clear(&in->answers);
    sotto_array_clear(&in->bank);
    sotto_array_clear(&in->training);
    for (int i = 0; i < 3; i++)
        sotto_provenance_clear(&in->source[i]);
    sotto_encoder_free(in->encoder);
}

/* Rows of a file, if the option was given; NULL: any number of columns or records. */
static sotto_status verb_monitor_load(struct sotto_array *x, const struct options *o, const char *option,
                                      const size_t *records, const size_t *columns)
{
    const char *path = option_text(o, option), *first = option_text(o, "calibration");
    if (!path)
        return SOTTO_OK;
    TRY_OR_RETURN(head_features_load(x, path));
    if (records && x->shape[0] != *records)
        return cli_fail(SOTTO_EINVAL, "%s has %zu rows but %s has %zu; expected one of each per query", path,
                        x->shape[0], first, *records);
    if (columns && x->shape[1] != *columns)
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s has %zu; expected equal numbers", path,
                        x->shape[1], first, *columns);
    return SOTTO_OK;
}

static sotto_status load_clients(struct monitor_inputs *in, const struct options *o)
{
    const char *path = option_text(o, "calibration-clients");
    if (!path)
        return SOTTO_OK;
    TRY_OR_RETURN(head_labels_load(&in->clients, path, 0));
    if (in->clients.count != in->calibration.shape[0])
        return cli_fail(SOTTO_EINVAL,
                        "%s has %zu clients but %s has %zu rows; expected one of each per query", path,
                        in->clients.count, option_text(o, "calibration"), in->calibration.shape[0]);
    return SOTTO_OK;
}

static sotto_status load_encoder(struct monitor_inputs *in, const struct options *o)
{
    size_t shape[3];
    sotto_status status = image_shape(shape, o);
    if (option_given(o, "image") != option_given(o, "encoder"))
        return cli_fail(SOTTO_EUSAGE, "monitor: --encoder and --image need each other");
    if (status == SOTTO_OK && option_given(o, "encoder"))
        status = sotto_encoder_load(&in->encoder, option_text(o, "encoder"));
    in->input.encoder = in->encoder;
    in->input.channels = shape[0], in->input.height = shape[1], in->input.width = shape[2];
    return status;
}

static sotto_status load_inputs(struct monitor_inputs *in, const struct options *o)
{
    static const char *const files[] = {"calibration", "bank", "training"};
    const size_t *columns = &in->calibration.shape[1];
    TRY_OR_RETURN(option_require(o, "calibration"));
    TRY_OR_RETURN(option_require(o, "bank"));
    TRY_OR_RETURN(verb_monitor_load(&in->calibration, o, "calibration", NULL, NULL));
    TRY_OR_RETURN(verb_monitor_load(&in->bank, o, "bank", NULL, columns));
    TRY_OR_RETURN(verb_monitor_load(&in->training, o, "training", NULL, columns));
    TRY_OR_RETURN(verb_monitor_load(&in->answers, o, "calibration-answers", &in->calibration.shape[0], NULL));
    TRY_OR_RETURN(load_clients(in, o));
    for (int i = 0; i < 3; i++)
        if (option_given(o, files[i]))
            TRY_OR_RETURN(sotto_provenance_load(&in->source[i], option_text(o, files[i])));
    in->input = (struct sotto_monitor_input){.calibration = in->calibration.data,
                                             .calibration_rows = in->calibration.shape[0],
                                             .columns = *columns,
                                             .calibration_clients = in->clients.data,
                                             .calibration_answers = in->answers.data,
                                             .classes = in->answers.shape[1],
                                             .bank = in->bank.data,
                                             .bank_rows = in->bank.shape[0],
                                             .training = in->training.data,
                                             .training_rows = in->training.shape[0],
                                             .calibration_source = &in->source[0],
                                             .bank_source = &in->source[1],
                                             .training_source = &in->source[2]};
    return load_encoder(in, o);
}

/* The words behind --: one is a line for the shell, several are a program and its arguments. */
static char *command_of(const struct options *o)
{
    size_t first = option_command(o), count = option_argument_count(o), room = 1;
    for (size_t i = first; i < count; i++)
        room += 4 * strlen(option_argument(o, i)) + 3;
    char *line = calloc(room, 1), *at = line;
    for (size_t i = first; line && i < count; i++) {
        if (count - first == 1)
            return strcpy(line, option_argument(o, i));
        *at++ = '\'';
        for (const char *c = option_argument(o, i); *c; c++)
            at += sprintf(at, *c == '\'' ? "'\\''" : "%c", *c);
        *at++ = '\'';
        *at++ = ' ';
    }
    return line;
}

static sotto_status verb_monitor_serve(struct sotto_monitor *m, const struct options *o,
                                       const struct sotto_context *ctx)
{
    char *command = command_of(o);
    struct sotto_monitor_service s = {.command = command};
    sotto_status status = SOTTO_OK;
    TRY(command ? SOTTO_OK : cli_fail(SOTTO_ENOMEM, "monitor: out of memory"));
    TRY(option_members(&s, sotto_option_table("monitor_service"), o));
    TRY(option_members(&s.how, sotto_option_table("command"), o));
    TRY(sotto_monitor_serve(m, &s, STDIN_FILENO, STDOUT_FILENO, ctx));
done:
    free(command);
    return status;
}

/* What stands on the terminal is of a log only: standard output belongs to the client of a service. */
static sotto_status verb_monitor_judge(struct sotto_monitor *m, const struct options *o,
                                       const struct sotto_context *ctx, int json)
{
    const struct sotto_monitor_result *r = sotto_monitor_result(m);
    int service = option_command(o) < option_argument_count(o);
    uint64_t torn = 0;
    char *text = NULL;
    sotto_status found =
        service ? verb_monitor_serve(m, o, ctx) : sotto_monitor_replay(m, option_argument(o, 0), &torn, ctx);
    sotto_status status = found == SOTTO_EGATE ? SOTTO_OK : found;
    if (status == SOTTO_OK && torn > 0)
        cli_warn("%s: its last exchange is not complete (%llu bytes) and is left out", option_argument(o, 0),
                 (unsigned long long)torn);
    if (status == SOTTO_OK && option_given(o, "output"))
        status = sotto_monitor_save(option_text(o, "output"), r);
    if (status == SOTTO_OK && !service)
        status = json ? sotto_monitor_json(&text, r) : sotto_monitor_text(&text, r);
    if (status == SOTTO_OK && text)
        printf(json ? "%s\n" : "%s", text);
    sotto_text_free(text);
    return status == SOTTO_OK ? found : status;
}

static sotto_status check_arguments(const struct options *o, int json)
{
    static const char *const of_service[] = {"log", "client", "on-alarm", "timeout", "query-batch"};
    size_t logs = option_command(o), words = option_argument_count(o) - logs;
    if (logs > 1 || (logs == 1) == (words > 0))
        return cli_fail(SOTTO_EUSAGE, "monitor: expected one LOG, or -- COMMAND; see 'sotto monitor --help'");
    for (size_t i = 0; logs && i < sizeof of_service / sizeof *of_service; i++)
        if (option_given(o, of_service[i]))
            return cli_fail(SOTTO_EUSAGE, "monitor: --%s needs -- COMMAND", of_service[i]);
    if (words && json)
        return cli_fail(SOTTO_EUSAGE,
                        "monitor: --json cannot be combined with -- COMMAND, as standard output is the "
                        "client's; give --output FILE");
    return words ? option_require(o, "log") : SOTTO_OK;
}

static sotto_status verb_monitor_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct monitor_inputs in = {0};
    struct sotto_monitor_options options = {0};
    struct sotto_monitor *m = NULL;
    sotto_status status = SOTTO_OK;
    TRY(check_arguments(o, json));
    TRY(option_members_checked(&options, sotto_option_table("monitor"), "alpha|block|clients", o));
    TRY(load_inputs(&in, o));
    TRY(sotto_monitor_make(&m, &in.input, &options, ctx));
    TRY(verb_monitor_judge(m, o, ctx, json));
done:
    sotto_monitor_free(m);
    verb_monitor_clear(&in);
    return status;
}

const struct verb verb_monitor = {
    .name = "monitor",
    .summary = "detect attacks in the queries to a model; an honest client raises a false alarm with at most "
               "a stated probability",
    .arguments = "LOG | -- COMMAND",
    .min_arguments = 1,
    .max_arguments = 30,
    .examples = "  sotto monitor queries.log --calibration benign.npy --bank bank.npy\n"
                "  sotto monitor --calibration benign.npy --calibration-answers p.npy --bank bank.npy --log "
                "queries.log -- python3 serve.py\n"
                "  sotto attack boundary --target-command 'sotto monitor ... -- python3 serve.py' ...",
    .floor = FLOOR_MODULES,
    .ranks = RANK_0,
    .options = rows,
    .most_used =
        "calibration|calibration-clients|calibration-answers|bank|encoder|image|alpha|block|log|on-alarm|"
        "timeout|output|json",
    .run = verb_monitor_run};
