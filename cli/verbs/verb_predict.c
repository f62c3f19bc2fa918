#include "inputs/head_inputs.h"
#include "inputs/image_inputs.h"
#include "inputs/private_set.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option_row rows[] = {
    OPTION_GROUP("Model"),
    {"head", OPTION_TEXT, "FILE", NULL, "head, plain or protected (.safetensors)"},
    {"model", OPTION_TEXT, "FILE", NULL, "whole network by 'sotto train', instead of a head"},
    {"encoder", OPTION_TEXT, "FILE", NULL, "encoder that turns --data into embeddings"},
    OPTION_GROUP("Records"),
    {"features", OPTION_TEXT, "X.npy", NULL,
     "embeddings to classify (N, D), instead of --encoder and --data"},
    DATA_ROW,
    INDICES_ROW,
    SPLIT_ROW,
    {"labels", OPTION_TEXT, "y.npy", NULL,
     "true classes (N): accuracy beside the most frequent class, balanced accuracy, ROC area, confusion "
     "matrix"},
    OPTION_LABELS_FROM_ROW,
    OPTION_GROUP("Tables"),
    {"table", OPTION_TEXT, "FILE.csv", NULL,
     "rows to classify, with the columns of the training table in any order"},
    {"encoding", OPTION_TEXT, "FILE", NULL, "encoding.json for --table (default: the one in the head)"},
    {"answers", OPTION_TEXT, "FILE.csv", NULL,
     "answers to write: row, class name and probability for each row of --table (default: standard output)"},
    OPTION_TABLE("answer", NULL),
    OPTION_GROUP("Output"),
    {"logits", OPTION_FLAG, NULL, NULL, "logits instead of probabilities"},
    {"output", OPTION_TEXT, "FILE", NULL, "probabilities.npy to write, (N, K) f4"},
    OPTION_END};

static sotto_status check_table_options(const struct options *o)
{
    static const char *const others[] = {"features", "encoder", "data", "indices", "split", "logits"};
    if (option_given(o, "model") && (option_given(o, "head") || !option_given(o, "encoding")))
        return cli_fail(SOTTO_EUSAGE, "predict: --model with --table needs --encoding encoding.json and "
                                      "cannot be combined with --head");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option_given(o, others[i]))
            return cli_fail(SOTTO_EUSAGE, "predict: --%s cannot be combined with --table", others[i]);
    return SOTTO_OK;
}

static sotto_status check_options(const struct options *o)
{
    bool network = option_given(o, "model");
    TRY_OR_RETURN(network ? SOTTO_OK : option_require(o, "head"));
    if (option_given(o, "table"))
        return check_table_options(o);
    if (option_given(o, "encoding") || option_given(o, "answers"))
        return cli_fail(SOTTO_EUSAGE, "predict: --encoding and --answers need --table");
    if (!option_given(o, "labels"))
        TRY_OR_RETURN(option_require(o, "output"));
    if (network && (option_given(o, "head") || option_given(o, "encoder")))
        return cli_fail(
            SOTTO_EUSAGE,
            "predict: --model is a whole network and cannot be combined with --head or --encoder");
    if (network && option_given(o, "features") == option_given(o, "data"))
        return cli_fail(SOTTO_EUSAGE, "predict: give exactly one of --features X.npy and --data SET");
    if (!network && option_given(o, "features") == (option_given(o, "encoder") || option_given(o, "data")))
        return cli_fail(SOTTO_EUSAGE,
                        "predict: give either --features X.npy, or --encoder FILE with --data SET");
    if (!network && option_given(o, "encoder") != option_given(o, "data"))
        return cli_fail(SOTTO_EUSAGE, "predict: --encoder and --data must be given together");
    if (option_given(o, "features") && (option_given(o, "indices") || option_given(o, "split")))
        return cli_fail(SOTTO_EUSAGE,
                        "predict: --indices and --split choose rows of --data; omit them with --features");
    return SOTTO_OK;
}

/* A head that knows its encoder answers only that encoder's embeddings. */
static sotto_status check_encoder(const struct sotto_head *h, const struct options *o)
{
    struct sotto_head *same = NULL;
    if (!sotto_head_encoder(h)[0])
        return SOTTO_OK;
    sotto_status status = sotto_head_copy(&same, h);
    if (status == SOTTO_OK)
        status = sotto_head_set_encoder_file(same, option_text(o, "encoder"));
    if (status == SOTTO_OK && strcmp(sotto_head_encoder(h), sotto_head_encoder(same)) != 0)
        status = cli_fail(
            SOTTO_EINVAL,
            "%s was trained on embeddings of another encoder than %s (SHA-256 differs); give that encoder",
            option_text(o, "head"), option_text(o, "encoder"));
    sotto_head_free(same);
    return status;
}

static sotto_status embed_images(struct sotto_array *x, const struct sotto_head *h, const struct options *o,
                                 const struct sotto_context *ctx)
{
    struct sotto_dataset *data = NULL;
    struct sotto_encoder *encoder = NULL;
    struct sotto_array chosen = {0};
    sotto_status status = SOTTO_OK;
    TRY(check_encoder(h, o));
    TRY(sotto_encoder_load(&encoder, option_text(o, "encoder")));
    TRY(sotto_dataset_open(&data, option_text(o, "data"), ctx));
    TRY(image_rows(&chosen, data, o));
    TRY(sotto_array_make(x, SOTTO_F4, 2, (const size_t[]){chosen.count, sotto_encoder_width(encoder)}));
    TRY(sotto_embed(x->data, encoder, data, chosen.data, chosen.count, ctx));
done:
    sotto_array_clear(&chosen);
    sotto_encoder_free(encoder);
    sotto_dataset_free(data);
    return status;
}

/* Of labelled records; confusion (classes, classes). */
struct measured {
    struct sotto_answer_quality quality;
    struct sotto_array confusion;
};

static sotto_status verb_predict_measure(struct measured *m, const struct options *o,
                                         const struct sotto_array *out)
{
    struct sotto_array y = {0};
    const char *path = option_text(o, "labels");
    const int64_t *labels;
    int64_t first;
    sotto_status status = SOTTO_OK;
    TRY(option_labels_from(&first, o));
    TRY(head_labels_load(&y, path, first));
    if (y.count != out->shape[0])
        TRY(cli_fail(SOTTO_EINVAL, "%s has %zu labels for %zu records; expected one label per record", path,
                     y.count, out->shape[0]));
    labels = y.data;
    TRY(labels_check_first(labels, y.count, out->shape[1], path, o));
    for (size_t i = 0; i < y.count; i++)
        if (labels[i] < 0 || (uint64_t)labels[i] >= out->shape[1])
            TRY(cli_fail(SOTTO_EINVAL, "%s: row %zu is %lld; the model has classes 0 to %zu", path, i,
                         (long long)labels[i], out->shape[1] - 1));
    TRY(sotto_array_make(&m->confusion, SOTTO_I8, 2, (const size_t[]){out->shape[1], out->shape[1]}));
    TRY(sotto_answer_quality(&m->quality, m->confusion.data, out->data, option_flag(o, "logits"), labels,
                             y.count, out->shape[1]));
done:
    sotto_array_clear(&y);
    return status;
}

static void print_estimate(const char *name, const struct sotto_estimate *e)
{
    char text[3][32];
    const double x[3] = {e->estimate, e->lower, e->upper};
    for (int i = 0; i < 3; i++)
        snprintf(text[i], sizeof text[i], isfinite(x[i]) ? "%.9g" : "null", x[i]);
    printf(", \"%s\": {\"estimate\": %s, \"lower\": %s, \"upper\": %s}", name, text[0], text[1], text[2]);
}

static void print_json(const char *kind, const size_t shape[2], const struct measured *m)
{
    printf("{\"schema\": \"sotto.predict/1\", \"kind\": \"%s\", \"records\": %zu, \"classes\": %zu", kind,
           shape[0], shape[1]);
    if (m) {
        const int64_t *cell = m->confusion.data;
        print_estimate("accuracy", &m->quality.accuracy);
        printf(", \"majority\": {\"class\": %zu, \"share\": %.9g}", m->quality.majority,
               m->quality.majority_share);
        print_estimate("balanced_accuracy", &m->quality.balanced);
        print_estimate("auc", &m->quality.auc);
        printf(", \"confusion\": [");
        for (size_t k = 0; k < shape[1]; k++)
            for (size_t c = 0; c < shape[1]; c++)
                printf("%s%lld%s",
                       c   ? ", "
                       : k ? ", ["
                           : "[",
                       (long long)cell[k * shape[1] + c], c + 1 == shape[1] ? "]" : "");
        printf("]");
    }
    puts("}");
}

static void print_confusion(const struct measured *m)
{
    enum { MOST = 20 };
    const size_t classes = m->quality.classes;
    const int64_t *cell = m->confusion.data;
    char most[32];
    int64_t largest = (int64_t)classes;
    if (classes > MOST) {
        printf("confusion matrix of %zu classes: --json has it\n", classes);
        return;
    }
    for (size_t i = 0; i < classes * classes; i++)
        largest = cell[i] > largest ? cell[i] : largest;
    const int width = 2 + snprintf(most, sizeof most, "%lld", (long long)largest);
    printf("confusion matrix (rows: true class, columns: answer)\n%4s", "");
    for (size_t k = 0; k < classes; k++)
        printf("%*zu", width, k);
    for (size_t i = 0; i < classes * classes; i++) {
        if (i % classes == 0)
            printf("\n%4zu", i / classes);
        printf("%*lld", width, (long long)cell[i]);
    }
    puts("");
}

static void print_measured(const struct measured *m)
{
    const struct sotto_answer_quality *q = &m->quality;
    printf("accuracy %.4f [%.4f, %.4f] (95 %%) on %zu records; who always answers class %zu: %.4f\n"
           "balanced accuracy %.4f [%.4f, %.4f]",
           q->accuracy.estimate, q->accuracy.lower, q->accuracy.upper, q->records, q->majority,
           q->majority_share, q->balanced.estimate, q->balanced.lower, q->balanced.upper);
    if (isfinite(q->auc.lower))
        printf(", area under the ROC curve %.4f [%.4f, %.4f]", q->auc.estimate, q->auc.lower, q->auc.upper);
    else if (isfinite(q->auc.estimate))
        printf(", mean area under the ROC curves of the classes %.4f", q->auc.estimate);
    puts("");
    print_confusion(m);
}

/* Answers are of the same records, which those that trained the model shaped. A model with a certificate is a release, of which nothing
 * more has to be said. */
static sotto_status save_whose(const struct options *o, const char *output)
{
    struct sotto_provenance whose = {0};
    const char *kind = option_given(o, "model") ? "model" : "head", *model = option_text(o, kind);
    char certificate[4096];
    sotto_status status = SOTTO_OK;
    TRY(option_given(o, "features") ? sotto_provenance_load(&whose, option_text(o, "features")) : SOTTO_OK);
    if ((size_t)snprintf(certificate, sizeof certificate, "%s.certificate.json", model) >=
            sizeof certificate ||
        access(certificate, F_OK) != 0)
        TRY(shape_by_rows(&whose, kind, model));
    TRY(shape_by_encoder(&whose, option_text(o, "encoder")));
    TRY(sotto_provenance_save(output, &whose));
done:
    sotto_provenance_clear(&whose);
    return status;
}

/* What was asked for: the answers as a file, the accuracy, or both. */
static sotto_status verb_predict_deliver(const struct options *o, const struct sotto_array *out, int json)
{
    const char *output = option_text(o, "output"),
               *kind = option_flag(o, "logits") ? "logits" : "probabilities";
    struct measured m = {0}, *known = option_given(o, "labels") ? &m : NULL;
    sotto_status status = SOTTO_OK;
    TRY(known ? verb_predict_measure(known, o, out) : SOTTO_OK);
    TRY(output ? sotto_npy_save(output, out) : SOTTO_OK);
    TRY(output ? save_whose(o, output) : SOTTO_OK);
    if (json)
        print_json(kind, out->shape, known);
    if (!json && output)
        printf("%s: %s of %zu records, %zu classes\n", output, kind, out->shape[0], out->shape[1]);
    if (!json && known)
        print_measured(known);
done:
    sotto_array_clear(&m.confusion);
    return status;
}

static sotto_status verb_predict_answer(const struct options *o, const struct sotto_head *h,
                                        const struct sotto_array *x, const struct sotto_context *ctx,
                                        int json)
{
    struct sotto_array out = {0};
    size_t shape[2] = {x->shape[0], sotto_head_classes(h)};
    if (x->shape[1] != sotto_head_inputs(h))
        return cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s expects %zu",
                        option_text(o, option_given(o, "features") ? "features" : "encoder"), x->shape[1],
                        option_text(o, "head"), sotto_head_inputs(h));
    sotto_status status = SOTTO_OK;
    TRY(sotto_array_make(&out, SOTTO_F4, 2, shape));
    TRY(sotto_head_predict(out.data, h, x->data, shape[0], x->shape[1], option_flag(o, "logits"), ctx));
    TRY(verb_predict_deliver(o, &out, json));
done:
    sotto_array_clear(&out);
    return status;
}

static sotto_status answer_features(struct sotto_array *out, const struct sotto_network *n,
                                    const struct options *o, const struct sotto_context *ctx)
{
    struct sotto_array x = {0};
    sotto_status status = SOTTO_OK;
    TRY(head_features_load(&x, option_text(o, "features")));
    if (x.shape[1] != sotto_network_inputs(n))
        TRY(cli_fail(SOTTO_EINVAL, "%s has %zu columns but %s expects %zu", option_text(o, "features"),
                     x.shape[1], option_text(o, "model"), sotto_network_inputs(n)));
    TRY(sotto_array_make(out, SOTTO_F4, 2, (const size_t[]){x.shape[0], sotto_network_classes(n)}));
    TRY(sotto_network_predict(out->data, n, x.data, x.shape[0], x.shape[1], option_flag(o, "logits"), ctx));
done:
    sotto_array_clear(&x);
    return status;
}

static sotto_status answer_data(struct sotto_array *out, const struct sotto_network *n,
                                const struct options *o, const struct sotto_context *ctx)
{
    struct sotto_dataset *data = NULL;
    struct sotto_array chosen = {0};
    sotto_status status = SOTTO_OK;
    TRY(sotto_dataset_open(&data, option_text(o, "data"), ctx));
    TRY(image_rows(&chosen, data, o));
    TRY(sotto_array_make(out, SOTTO_F4, 2, (const size_t[]){chosen.count, sotto_network_classes(n)}));
    TRY(sotto_network_predict_data(out->data, n, data, chosen.data, chosen.count, option_flag(o, "logits"),
                                   ctx));
done:
    sotto_array_clear(&chosen);
    sotto_dataset_free(data);
    return status;
}

static sotto_status ask_network(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_network *n = NULL;
    struct sotto_array out = {0};
    struct sotto_answer_options answers = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_members_checked(&answers, sotto_option_table("answer"), "repeats|average|seed", o));
    TRY(sotto_network_load(&n, option_text(o, "model")));
    TRY(sotto_network_set_answers(n, &answers));
    TRY(option_given(o, "features") ? answer_features(&out, n, o, ctx) : answer_data(&out, n, o, ctx));
    TRY(verb_predict_deliver(o, &out, json));
done:
    sotto_array_clear(&out);
    sotto_network_free(n);
    return status;
}

/* The encoding that is named, else the head's own. */
static sotto_status find_encoding(struct sotto_table_encoding **e, const struct sotto_head *h,
                                  const struct options *o)
{
    if (option_given(o, "encoding"))
        return sotto_table_encoding_load(e, option_text(o, "encoding"));
    if (!sotto_head_encoding(h))
        return cli_fail(SOTTO_EINVAL, "%s contains no encoding of a table; give --encoding encoding.json",
                        option_text(o, "head"));
    return sotto_table_encoding_parse(e, sotto_head_encoding(h), option_text(o, "head"));
}

static sotto_status ask_about_table(struct sotto_array *out, const struct sotto_table_encoding *e,
                                    const struct sotto_head *h, const struct sotto_network *n,
                                    const struct options *o, const struct sotto_context *ctx)
{
    struct sotto_array x = {0};
    size_t inputs = h ? sotto_head_inputs(h) : sotto_network_inputs(n),
           classes = h ? sotto_head_classes(h) : sotto_network_classes(n);
    if (sotto_table_encoding_width(e) != inputs || sotto_table_encoding_classes(e) != classes)
        return cli_fail(SOTTO_EINVAL,
                        "the encoding has %zu inputs and %zu classes, but %s has %zu and %zu; give the "
                        "encoding that the model was trained with",
                        sotto_table_encoding_width(e), sotto_table_encoding_classes(e),
                        option_text(o, h ? "head" : "model"), inputs, classes);
    sotto_status status = SOTTO_OK;
    TRY(sotto_table_encode(&x, e, option_text(o, "table"), ctx));
    TRY(sotto_array_make(out, SOTTO_F4, 2, (const size_t[]){x.shape[0], classes}));
    TRY(h ? sotto_head_predict(out->data, h, x.data, x.shape[0], inputs, 0, ctx)
          : sotto_network_predict(out->data, n, x.data, x.shape[0], inputs, 0, ctx));
done:
    sotto_array_clear(&x);
    return status;
}

/* To standard output unless something else was asked for. */
static sotto_status deliver_answers(const struct options *o, const struct sotto_table_encoding *e,
                                    const struct sotto_array *out, int json)
{
    const char *path = option_text(o, "answers");
    bool print = !path && !json && !option_given(o, "output") && !option_given(o, "labels");
    TRY_OR_RETURN(path || print ? sotto_table_answers(path, e, out) : SOTTO_OK);
    if (path && !json)
        printf("%s: answers to %zu records, %zu classes\n", path, out->shape[0], out->shape[1]);
    return !print ? verb_predict_deliver(o, out, json) : SOTTO_OK;
}

static sotto_status output_table(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_table_encoding *e = NULL;
    struct sotto_head *h = NULL;
    struct sotto_network *n = NULL;
    struct sotto_array out = {0};
    sotto_status status = SOTTO_OK;
    TRY(option_given(o, "model") ? sotto_network_load(&n, option_text(o, "model"))
                                 : sotto_head_load(&h, option_text(o, "head")));
    TRY(find_encoding(&e, h, o));
    TRY(ask_about_table(&out, e, h, n, o, ctx));
    TRY(deliver_answers(o, e, &out, json));
done:
    sotto_array_clear(&out);
    sotto_table_encoding_free(e);
    sotto_head_free(h);
    sotto_network_free(n);
    return status;
}

static sotto_status verb_predict_run(const struct options *o, const struct sotto_context *ctx, int json)
{
    struct sotto_head *h = NULL;
    struct sotto_array x = {0};
    sotto_status status = SOTTO_OK;
    TRY(check_options(o));
    if (option_given(o, "table"))
        return output_table(o, ctx, json);
    if (option_given(o, "model"))
        return ask_network(o, ctx, json);
    TRY(sotto_head_load(&h, option_text(o, "head")));
    if (option_given(o, "features"))
        TRY(head_features_load(&x, option_text(o, "features")));
    else
        TRY(embed_images(&x, h, o, ctx));
    TRY(verb_predict_answer(o, h, &x, ctx, json));
done:
    sotto_array_clear(&x);
    sotto_head_free(h);
    return status;
}

const struct verb verb_predict = {
    .name = "predict",
    .summary = "compute class probabilities or logits with a head or a network",
    .arguments = "",
    .examples = "  sotto predict --head head.safetensors --features X.npy -o p.npy\n"
                "  sotto predict --head head.safetensors --encoder encoder.safetensors --data fashion-mnist "
                "--split test -o p.npy\n"
                "  sotto predict --head protected.safetensors --table new.csv --answers answers.csv\n"
                "  sotto predict --head protected.safetensors --features X.npy --logits -o logits.npy\n"
                "  sotto predict --model model.safetensors --data cifar10 --indices rows.npy -o p.npy",
    .floor = FLOOR_LEARN,
    .ranks = REFUSED,
    .own = "head|model|encoder|features|labels|table|encoding|answers|logits",
    .options = rows,
    .most_used = "head|model|encoder|features|data|indices|split|labels|table|answers|repeats|logits|output",
    .run = verb_predict_run};
