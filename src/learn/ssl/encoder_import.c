/* Weights of a network that another program trained, under that program's names, become an encoder. The file says nothing of
 * the records behind them: that they are public is the user's statement, which the encoder keeps. */
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "options/option_tables.h"
#include "ssl/encoder.h"

#include "base/file.h"
#include "base/memory.h"
#include "data/augment/augment.h"
#include "io/text/number.h"
#include "io/text/utf8.h"
#include "options/option_values.h"
#include "sotto/option.h"
#include "sotto/private/option.h"

#include <stdio.h>
#include <string.h>

/* Names of layers are torchvision's, which ours are too behind "encoder."; who trained them puts something in front and
 * beside. A row is taken where its prefix stands before the first tensor of the network. */
static const struct names {
    const char *title, *prefix;
    const char *ignored[3]; /* tensors whose names begin so are left out */
} known_names[] = {
    {"torchvision", "", {"fc.", "classifier."}},
    {"torch.nn.DataParallel", "module.", {"module.fc.", "module.classifier."}},
    {"torch.compile", "_orig_mod.", {"_orig_mod.fc.", "_orig_mod.classifier."}},
    {"MoCo", "module.encoder_q.", {"module.encoder_q.fc.", "module.encoder_k.", "module.queue"}},
    {"SimSiam", "module.encoder.", {"module.encoder.fc.", "module.predictor."}},
    {"a backbone", "backbone.", {"backbone.fc.", "projector.", "classifier."}}};
enum { NAMES = sizeof known_names / sizeof *known_names };

/* A file is in memory as a whole while it is read; four times the largest network here in double. */
static const size_t import_bytes = (size_t)1 << 30, most_pixels = 4096;
static const char own_prefix[] = "encoder.", counter[] = "num_batches_tracked", stated[] = "public, by ";

/* What a file of another kind begins with. */
static const struct {
    const char *bytes;
    size_t count;
    const char *is;
} other_files[] = {{"PK\3\4", 4, "an archive of PyTorch (torch.save)"},
                   {"\x80\2", 2, "a pickle of Python"},
                   {"\x80\4", 2, "a pickle of Python"},
                   {"\x89HDF", 4, "an HDF5 file (Keras)"},
                   {"\x08", 1, "a protocol buffer (ONNX or TensorFlow)"}};

static sotto_status check_kind(const unsigned char *bytes, size_t size, const char *path)
{
    for (size_t i = 0; i < sizeof other_files / sizeof *other_files; i++)
        if (size > 8 && bytes[8] != '{' && memcmp(bytes, other_files[i].bytes, other_files[i].count) == 0) {
            sotto_status status = status_fail(SOTTO_EFORMAT, "%s: is %s; expected a .safetensors file", path,
                                              other_files[i].is);
            status_hint("PyTorch weights become one by 'from safetensors.torch import save_file; "
                        "save_file(model.state_dict(), \"weights.safetensors\")'");
            return status;
        }
    return SOTTO_OK;
}

/* ---- options ---- */

static sotto_status check_model(const char *name)
{
    sotto_status status = SOTTO_OK;
    const char *known = sotto_option_find(options_encoder_import, "model")->range;
    REQUIRE(name && option_listed_in(known, name), "model '%s' has no torchvision names; expected one of %s",
            name ? name : "", known);
done:
    return status;
}

static sotto_status check_statement(const char *text)
{
    sotto_status status = SOTTO_OK;
    size_t length = text ? strlen(text) : 0;
    char shown[80];
    REQUIRE(text, "statement: nothing says that the weights are public; expected \"public, by WHO\"");
    REQUIRE(strncmp(text, stated, strlen(stated)) == 0 && length > strlen(stated) &&
                text[strlen(stated)] != ' ',
            "statement: '%s' does not name who states it; expected \"public, by WHO\"",
            utf8_printable(shown, sizeof shown, text, length));
    REQUIRE(length < SOTTO_IMPORT_STATEMENT, "statement: has %zu bytes; expected fewer than %d", length,
            SOTTO_IMPORT_STATEMENT);
    for (size_t i = 0; i < length; i++)
        REQUIRE((unsigned char)text[i] >= ' ' && text[i] != 0x7f,
                "statement: contains a control character; expected one line of text");
    REQUIRE(utf8_valid(text, length), "statement: is not UTF-8; expected one line of text");
done:
    return status;
}

/* Mean and deviation of each channel: "M,M,M/D,D,D", or a name. */
static sotto_status read_normalise(double moments[6], const char *text)
{
    static const char separators[] = ",,/,,";
    sotto_status status = SOTTO_OK;
    const char *at = strcmp(text, "imagenet") == 0 ? "0.485,0.456,0.406/0.229,0.224,0.225"
                     : strcmp(text, "none") == 0   ? "0,0,0/1,1,1"
                                                   : text;
    bool good = true;
    for (size_t i = 0; i < 6 && good; i++) {
        size_t length = strcspn(at, ",/");
        good = number_real(&moments[i], at, length) && at[length] == separators[i] &&
               (i < 3 ? moments[i] >= -10 && moments[i] <= 10 : moments[i] >= 0.01 && moments[i] <= 100);
        at += length + 1;
    }
    REQUIRE(
        good,
        "normalise: '%.80s' is not imagenet, none or means and deviations of red, green and blue; expected "
        "for example 0.5,0.5,0.5/0.25,0.25,0.25 (means within 10 of 0, deviations of 0.01 to 100)",
        text);
done:
    return status;
}

/* Image networks of torchvision were trained on 224 pixels, those with a stem for small images on 32. */
static struct nn_shape input_of(const struct sotto_encoder_import_options *o)
{
    size_t side = strstr(o->model, "-imagenet") ? 224 : 32;
    return (struct nn_shape){3, augment_fitted(o->height ? o->height : side),
                             augment_fitted(o->width ? o->width : side)};
}

/* ---- tensors ---- */

/* Some names of a list, and how many more there are. */
struct name_list {
    char text[240];
    size_t count;
};

static void name_list_add(struct name_list *l, const char *name)
{
    char shown[48];
    size_t used = strlen(l->text);
    if (l->count++ < 4)
        snprintf(l->text + used, sizeof l->text - used, "%s%s", used ? ", " : "",
                 utf8_printable(shown, sizeof shown, name, strlen(name)));
}

static const char *name_list_end(struct name_list *l)
{
    size_t used = strlen(l->text);
    if (l->count > 4)
        snprintf(l->text + used, sizeof l->text - used, " and %zu more", l->count - 4);
    return l->text;
}

struct foreign {
    const char *path;
    const struct sotto_tensors *file;
    const struct names *names;
    struct sotto_tensors own; /* with our names; filled in from the file */
};

static void full_name(char out[160], const struct names *names, const char *own)
{
    snprintf(out, 160, "%s%s", names->prefix, own + strlen(own_prefix));
}

static bool of_input(const char *own)
{
    return strncmp(own, NN_INPUT_NORM ".", strlen(NN_INPUT_NORM ".")) == 0;
}

static void find_names(struct foreign *f)
{
    char name[160];
    size_t first = 0;
    while (of_input(f->own.items[first].name))
        first++;
    f->names = &known_names[0];
    for (size_t i = 0; i < NAMES; i++) {
        full_name(name, &known_names[i], f->own.items[first].name);
        if (tensors_find(f->file, name)) {
            f->names = &known_names[i];
            return;
        }
    }
}

static sotto_status find_missing(const struct foreign *f, const char *model)
{
    sotto_status status = SOTTO_OK;
    struct name_list missing = {0};
    char name[160];
    for (size_t i = 0; i < f->own.count; i++) {
        full_name(name, f->names, f->own.items[i].name);
        if (!of_input(f->own.items[i].name) && !tensors_find(f->file, name))
            name_list_add(&missing, name);
    }
    if (missing.count > 0)
        FAIL(SOTTO_EFORMAT, "%s: %zu tensor%s of %s missing: %s; expected torchvision's names of that model",
             f->path, missing.count, missing.count == 1 ? "" : "s", model, name_list_end(&missing));
done:
    return status;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static bool begins_with_one(const char *name, const struct names *names)
{
    for (size_t i = 0; i < sizeof names->ignored / sizeof *names->ignored && names->ignored[i]; i++)
        if (strncmp(name, names->ignored[i], strlen(names->ignored[i])) == 0)
            return true;
    return false;
}

static bool is_own(const struct foreign *f, const char *name)
{
    char own[256];
    size_t prefix = strlen(f->names->prefix);
    snprintf(own, sizeof own, "%s%.200s", own_prefix, name + prefix);
    return strncmp(name, f->names->prefix, prefix) == 0 && !of_input(own) && tensors_find(&f->own, own);
}

/* What the network has no place for: said where it is known to be above or beside it, else refused. */
static sotto_status find_ignored(struct sotto_encoder_import_report *report, const struct foreign *f,
                                 const char *model)
{
    sotto_status status = SOTTO_OK;
    struct name_list unexpected = {0}, ignored = {0};
    for (size_t i = 0; i < f->file->count; i++) {
        const char *name = f->file->items[i].name;
        if (is_own(f, name))
            continue;
        else if (begins_with_one(name, f->names))
            name_list_add(&ignored, name);
        else if (ends_with(name, counter))
            report->counters++;
        else
            name_list_add(&unexpected, name);
    }
    if (unexpected.count > 0)
        FAIL(SOTTO_EFORMAT, "%s: %zu tensor%s unknown to %s: %s; expected none besides its layers and head",
             f->path, unexpected.count, unexpected.count == 1 ? "" : "s", model, name_list_end(&unexpected));
    report->ignored = ignored.count;
    snprintf(report->ignored_names, sizeof report->ignored_names, "%s", name_list_end(&ignored));
done:
    return status;
}

static void shape_text(char out[96], int ndim, const size_t *shape)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < ndim && used < 96; i++)
        used += (size_t)snprintf(out + used, 96 - used, "%s%zu", i ? ", " : "", shape[i]);
}

static sotto_status take_tensor(const struct foreign *f, struct sotto_tensor *own, const char *model)
{
    sotto_status status = SOTTO_OK;
    char name[160], found[96], expected[96];
    full_name(name, f->names, own->name);
    struct sotto_array *a = tensors_find(f->file, name), *to = &own->array;
    if (a->ndim != to->ndim || memcmp(a->shape, to->shape, (size_t)a->ndim * sizeof *a->shape) != 0) {
        shape_text(found, a->ndim, a->shape);
        shape_text(expected, to->ndim, to->shape);
        status = status_fail(SOTTO_EFORMAT, "%s: tensor '%s' has shape (%s); expected (%s) for %s", f->path,
                             name, found, expected, model);
        if (ends_with(name, "conv1.weight"))
            status_hint("the first convolution is 7x7 in networks for large images ({model=NAME-imagenet}) "
                        "and 3x3 in those for small ones");
        goto done;
    }
    if (a->dtype != SOTTO_F2 && a->dtype != SOTTO_F4 && a->dtype != SOTTO_F8)
        FAIL(SOTTO_EFORMAT, "%s: tensor '%s' has dtype %s; expected f16, bf16, f32 or f64", f->path, name,
             sotto_dtype_name(a->dtype));
    TRY(sotto_array_convert(a, SOTTO_F4));
    for (size_t i = 0; i < a->count && ends_with(name, "running_var"); i++)
        if (((const float *)a->data)[i] < 0)
            FAIL(SOTTO_EFORMAT,
                 "%s: tensor '%s' has the value %g at position %zu; variances must be at least 0", f->path,
                 name, (double)((const float *)a->data)[i], i);
    memcpy(to->data, a->data, a->count * sizeof(float));
done:
    return status;
}

static void take_moments(struct sotto_tensors *own, const double moments[6])
{
    float *mean = tensors_find(own, NN_INPUT_NORM ".running_mean")->data,
          *variance = tensors_find(own, NN_INPUT_NORM ".running_var")->data;
    for (size_t c = 0; c < 3; c++) {
        mean[c] = (float)moments[c];
        variance[c] = (float)(moments[3 + c] * moments[3 + c] - NN_NORM_EPSILON);
    }
}

static sotto_status take_tensors(struct nn_model *m, struct sotto_encoder_import_report *report,
                                 struct foreign *f, const char *model, const double moments[6])
{
    sotto_status status = SOTTO_OK;
    TRY(nn_model_export(&f->own, m, "", 0));
    find_names(f);
    TRY(find_missing(f, model));
    TRY(find_ignored(report, f, model));
    for (size_t i = 0; i < f->own.count; i++)
        if (!of_input(f->own.items[i].name))
            TRY(take_tensor(f, &f->own.items[i], model));
    if (nn_model_normalised(m))
        take_moments(&f->own, moments);
    status = nn_model_import(m, &f->own, "", 0);
    if (status != SOTTO_OK)
        status_prefix(f->path);
done:
    sotto_tensors_clear(&f->own);
    return status;
}

/* ---- the encoder ---- */

static sotto_status add_facts(struct sotto_encoder *e, const struct sotto_encoder_import_options *o,
                              const struct names *names, const char *sha256)
{
    sotto_status status = SOTTO_OK;
    char provenance[SOTTO_IMPORT_STATEMENT + sizeof ENCODER_STATED];
    snprintf(provenance, sizeof provenance, ENCODER_STATED "%s", o->statement);
    TRY(encoder_add_fact(e, "method", "import"));
    TRY(encoder_add_fact(e, ENCODER_PROVENANCE_KEY, provenance));
    TRY(encoder_add_fact(e, "source_sha256", sha256));
    TRY(encoder_add_fact(e, "source_names", names->title));
    TRY(encoder_add_fact(e, "normalise", o->normalise));
    TRY(encoder_add_fact(e, "version", sotto_version()));
done:
    return status;
}

/* Weights of ours carry a statement of their own, which a new one would hide. */
static sotto_status check_origin(const struct sotto_tensors *file, const char *path)
{
    sotto_status status = SOTTO_OK;
    const char *schema = tensors_metadata(file, "schema");
    REQUIRE(!schema || strncmp(schema, "sotto.", strlen("sotto.")) != 0,
            "%s: is a file of sotto (%.40s), which says itself what its records are; use it as it is", path,
            schema);
done:
    return status;
}

static sotto_status import_tensors(struct sotto_encoder **out, struct sotto_encoder_import_report *report,
                                   const struct sotto_tensors *file, const char *path, const char *sha256,
                                   const struct sotto_encoder_import_options *o, const double moments[6],
                                   const struct sotto_context *ctx)
{
    sotto_status status = SOTTO_OK;
    struct foreign f = {.path = path, .file = file};
    struct nn_model *model = NULL;
    struct sotto_encoder *e = NULL;
    TRY(check_origin(file, path));
    struct nn_model_config config = {
        .name = o->model, .input = input_of(o), .normalised = strcmp(o->normalise, "none") != 0, .ctx = ctx};
    TRY(nn_model_create_blank(&model, &config));
    TRY(take_tensors(model, report, &f, o->model, moments));
    report->tensors = file->count - report->ignored - report->counters;
    report->names = f.names->title;
    struct nn_model *taken = model;
    model = NULL;
    TRY(encoder_wrap(&e, taken, o->model));
    TRY(add_facts(e, o, f.names, sha256));
    *out = e;
    e = NULL;
done:
    nn_model_free(model);
    sotto_encoder_free(e);
    return status;
}

sotto_status sotto_encoder_import(struct sotto_encoder **out, struct sotto_encoder_import_report *report,
                                  const char *path, const struct sotto_encoder_import_options *options,
                                  const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, path);
    sotto_status status = SOTTO_OK;
    struct sotto_encoder_import_options o;
    struct sotto_encoder_import_report own = {0};
    struct sotto_tensors file = {0};
    unsigned char *bytes = NULL;
    size_t size;
    struct sha256 hash;
    char sha256[SHA256_HEX];
    double moments[6];
    TRY(sotto_options_resolve(&o, options, options_encoder_import));
    TRY(check_model(o.model));
    TRY(check_statement(o.statement));
    TRY(read_normalise(moments, o.normalise));
    REQUIRE(o.height <= most_pixels && o.width <= most_pixels,
            "size: %zux%zu is too large; expected at most %zux%zu", o.height, o.width, most_pixels,
            most_pixels);
    TRY(file_read_asking(&bytes, &size, path, import_bytes, ctx));
    TRY(check_kind(bytes, size, path));
    TRY(safetensors_load_bytes(&file, bytes, size, path));
    sha256_init(&hash);
    TRY(sha256_update_asking(&hash, bytes, size, ctx));
    sha256_hex(&hash, sha256);
    base_free(bytes);
    bytes = NULL;
    TRY(import_tensors(out, &own, &file, path, sha256, &o, moments, ctx));
    if (report)
        *report = own;
done:
    base_free(bytes);
    sotto_tensors_clear(&file);
    return status;
}
