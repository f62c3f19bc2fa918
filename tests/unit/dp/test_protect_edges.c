/* What protect and verify refuse, one by one: files that hold nothing or something else, heads that do not
 * say where they come from, certificates and ledgers that lack what is compared. */
#include "support/test.h"
#include "support/exercise.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/sha256.h"
#include "io/array/safetensors.h"
#include "io/array/tensors.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/temporary_folder.h"
#include "support/certificate_text.h"
#include "support/verify_json.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sotto_protect request(const char *mechanism, const char *input, const char *output)
{
    static char ledger[128];
    strcpy(ledger, path_of("l.jsonl"));
    return (struct sotto_protect){
        .input = input,
        .output = output,
        .classes = 3,
        .release = {.mechanism = mechanism,
                    .scale = 2,
                    .target = {NAN, 1e-5},
                    .sensitivity = {.l1 = 1, .l2 = 1, .source = SOTTO_SENSITIVITY_PROVED},
                    .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger}}};
}

static void expect(const struct sotto_protect *p, sotto_status expected, const char *text)
{
    struct sotto_certificate *certificate = NULL;
    unlink(p->output);
    sotto_status status = sotto_protect_file(&certificate, p, NULL);
    if (status != expected || (expected != SOTTO_OK && !strstr(sotto_error_text(), text)))
        fail_msg("%s: %s; expected '%s'", sotto_status_name(status), sotto_error_text(), text);
    assert_int_equal(certificate != NULL, expected == SOTTO_OK);
    assert_int_equal(file_exists(p->output), expected == SOTTO_OK);
    sotto_certificate_free(certificate);
}

static const char *array(const char *name, enum sotto_dtype dtype, size_t count)
{
    static char path[128];
    strcpy(path, path_of(name));
    struct sotto_array a;
    assert_int_equal(sotto_array_make(&a, dtype, 1, &count), SOTTO_OK);
    assert_int_equal(sotto_npy_save(path, &a), SOTTO_OK);
    sotto_array_clear(&a);
    return path;
}

static char npy[128], safe[128];

static int name_files(void **state)
{
    if (make_folder(state))
        return -1;
    strcpy(npy, path_of("out.npy"));
    strcpy(safe, path_of("out.safetensors"));
    return 0;
}

/* pairs: key, value, ..., NULL */
static const char *tensors(const char *name, size_t first, size_t second, const char *const *pairs)
{
    static char path[128];
    strcpy(path, path_of(name));
    const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    struct sotto_tensors t = {0};
    assert_int_equal(tensors_add(&t, "a", SOTTO_F4, 1, &first, values), SOTTO_OK);
    assert_int_equal(tensors_add(&t, "b", SOTTO_F4, 1, &second, values), SOTTO_OK);
    for (; *pairs; pairs += 2)
        assert_int_equal(tensors_set_metadata(&t, pairs[0], pairs[1]), SOTTO_OK);
    assert_int_equal(safetensors_save(path, &t), SOTTO_OK);
    sotto_tensors_clear(&t);
    return path;
}

static const char *const nothing[] = {NULL};

TEST(what_files_hold)
{
    const enum sotto_dtype floats[] = {SOTTO_F2, SOTTO_F4, SOTTO_F8};
    for (int i = 0; i < 3; i++) {
        struct sotto_protect p = request("laplace", array("in.npy", floats[i], 3), npy);
        expect(&p, SOTTO_OK, "");
        p.release.mechanism = "exponential";
        expect(&p, SOTTO_OK, "");
        p.release.mechanism = "randomised-response";
        expect(&p, SOTTO_EINVAL, "expected integer labels");
    }
    struct sotto_protect labels = request("randomised-response", array("labels.npy", SOTTO_I8, 3), npy);
    labels.classes = 2; /* what is no class counts as class 0 */
    expect(&labels, SOTTO_OK, "");
    labels.labels_from = 2;
    expect(&labels, SOTTO_EINVAL, "expected the number of the first class, 0 or 1");
    struct sotto_protect p = request("laplace", array("whole.npy", SOTTO_I8, 3), npy);
    expect(&p, SOTTO_EINVAL, "expected floating-point tensors");
    p.release.mechanism = "discrete-laplace";
    expect(&p, SOTTO_OK, "");
    p.release.mechanism = "exponential";
    expect(&p, SOTTO_EINVAL, "expected floating-point scores");
    p.release.mechanism = "nothing";
    expect(&p, SOTTO_EINVAL, "'nothing'");
    p = request("laplace", array("empty.npy", SOTTO_F4, 0), npy);
    expect(&p, SOTTO_EINVAL, "contains no values; expected at least one");
    p = request("laplace", tensors("half.safetensors", 0, 3, nothing), safe); /* one tensor of two is empty */
    expect(&p, SOTTO_OK, "");
    p.release.mechanism = "exponential";
    expect(&p, SOTTO_EUSAGE, "one array of scores");
    p = request("laplace", "x", "y"); /* names shorter than any ending */
    expect(&p, SOTTO_ENOENT, "x");
}

TEST(what_is_no_statistic)
{
    struct sotto_protect p = request("laplace", tensors("heads.safetensors", 3, 2, nothing), safe);
    p.statistic = "mean";
    expect(&p, SOTTO_EUSAGE, "a statistic needs one array of records");
    p = request("propose-test-release", array("labels.npy", SOTTO_I8, 3), npy);
    expect(&p, SOTTO_EUSAGE, "releases the most frequent of labels");
    p.statistic = "most-frequent";
    expect(&p, SOTTO_EUSAGE, "omit sensitivity.l1, sensitivity.l2 and sensitivity_file");
    p.release.sensitivity = (struct sotto_sensitivity){0};
    p.blocks = 2;
    expect(&p, SOTTO_EUSAGE, "takes none of range, cases, blocks and choices");
    p.blocks = 0, p.choices = 2;
    expect(&p, SOTTO_EUSAGE, "takes none of range, cases, blocks and choices");
    p.choices = 0, p.cases = "c.npy";
    expect(&p, SOTTO_EUSAGE, "takes none of range, cases, blocks and choices");
    p.cases = NULL, p.range[1] = 1;
    expect(&p, SOTTO_EUSAGE, "takes none of range, cases, blocks and choices");
    p.range[1] = 0, p.classes = 1;
    expect(&p, SOTTO_EUSAGE, "and classes");
    p.classes = 3;
    struct sotto_array wide;
    assert_int_equal(sotto_array_make(&wide, SOTTO_I8, 2, (const size_t[]){3, 2}), SOTTO_OK);
    assert_int_equal(sotto_npy_save(p.input, &wide), SOTTO_OK);
    sotto_array_clear(&wide);
    expect(&p, SOTTO_EINVAL, "expected labels (n) or (n, 1)");
}

TEST(where_heads_come_from)
{
    const char *const named[] = {"data_fingerprint",
                                 "other",
                                 "recipe_hash",
                                 "aa",
                                 "features_file",
                                 "f",
                                 "labels_file",
                                 "l",
                                 "indices",
                                 "i",
                                 "data_name",
                                 "d",
                                 "train_loss",
                                 "0.3",
                                 "hidden",
                                 "32",
                                 NULL};
    const char *const unnamed[] = {"data_fingerprint", "", NULL};
    struct sotto_protect p = request("laplace", tensors("named.safetensors", 3, 2, named), safe);
    p.release.spend.dataset_id = NULL; /* a hash of the data in the metadata is no identity */
    expect(&p, SOTTO_EUSAGE, "give dataset_id");
    p.release.spend.dataset_id = "toy";
    expect(&p, SOTTO_OK, "");
    struct sotto_tensors t = {0};
    assert_int_equal(safetensors_load(&t, safe), SOTTO_OK);
    assert_string_equal(tensors_metadata(&t, "hidden"), "32");
    assert_string_equal(tensors_metadata(&t, "recipe_hash"), "aa");
    for (int i = 0; i < 7; i += 1 + (i == 0)) /* what identifies the data, and unknown members, are gone */
        assert_null(tensors_metadata(&t, named[2 * i]));
    sotto_tensors_clear(&t);
    /* a sensitivity of the same or of unknown data and recipe is taken, another is not */
    strcpy(p.release.sensitivity.evidence, "aa");
    const char *const same[] = {"other", "", NULL};
    for (int i = 0; i < 3; i++) {
        p.sensitivity_data = same[i];
        expect(&p, SOTTO_OK, "");
    }
    p.sensitivity_data = "this";
    expect(&p, SOTTO_EINVAL, "the sensitivity was measured on other data");
    p.sensitivity_data = NULL;
    strcpy(p.release.sensitivity.evidence, "bb");
    expect(&p, SOTTO_EINVAL, "another head");
    const char *const *files[] = {nothing, unnamed};
    for (int i = 0; i < 2; i++) {
        p = request("laplace", tensors("unnamed.safetensors", 3, 2, files[i]), safe);
        strcpy(p.release.sensitivity.evidence, "aa");
        p.sensitivity_data = "this";
        expect(&p, SOTTO_OK, "");
        p.release.spend.dataset_id = NULL;
        expect(&p, SOTTO_EUSAGE, "give dataset_id");
        p.release.spend.dataset_id = "";
        expect(&p, SOTTO_EUSAGE, "give dataset_id");
    }
}

/* The data set that an import wrote down is the one that is charged. */
TEST(a_file_says_whose_records_it_holds)
{
    struct sotto_provenance whose = {.dataset_id = "people"};
    struct sotto_protect p = request("laplace", array("theirs.npy", SOTTO_F4, 3), npy);
    assert_int_equal(sotto_provenance_save(p.input, &whose), SOTTO_OK);
    expect(&p, SOTTO_EUSAGE, "was made from data set 'people', not from 'toy'; omit dataset_id");
    p.release.spend.dataset_id = NULL;
    p.release.spend.ledger = path_of("people.jsonl");
    expect(&p, SOTTO_OK, "");
    char *text;
    assert_int_equal(sotto_ledger_show(&text, p.release.spend.ledger, NULL), SOTTO_OK);
    assert_non_null(strstr(text, "\"dataset_id\": \"people\""));
    sotto_text_free(text);
}

/* What comes by a pipe is gone when it was read: its values are what the ledger keeps a hash of. */
TEST(values_from_a_pipe)
{
    struct sotto_protect p = request("laplace", array("file.npy", SOTTO_F4, 3), npy);
    char pipe[128];
    unsigned char *data;
    size_t size;
    strcpy(pipe, path_of("pipe.npy"));
    assert_int_equal(file_read(&data, &size, p.input, 1 << 20), SOTTO_OK);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = open(pipe, O_WRONLY);
        _exit(write(fd, data, size) != (ssize_t)size);
    }
    p.input = pipe;
    expect(&p, SOTTO_OK, "");
    int result;
    assert_true(waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
    base_free(data);
}

TEST(releases_without_facts)
{
    struct sotto_certificate *certificate = NULL;
    float v[1] = {1};
    struct sotto_release r = request("laplace", "", "").release;
    r.sensitivity.source = (enum sotto_sensitivity_source)99;
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EINVAL);
    r.sensitivity.source = SOTTO_SENSITIVITY_PROVED;
    const char *const names[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        r.spend.dataset_id = names[i];
        assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EINVAL);
        assert_non_null(strstr(sotto_error_text(), "give dataset_id"));
    }
    r.spend.dataset_id = "toy";
    r.mechanism = "nothing";
    assert_int_equal(sotto_dp_release(&certificate, v, 1, &r, NULL), SOTTO_EINVAL);
    assert_null(certificate);
}

/* --- certificates */

static char *certificate_of(const char *mechanism)
{
    struct sotto_certificate *certificate;
    struct sotto_protect p = request(mechanism, array("in.npy", SOTTO_I8, 3), npy);
    if (strcmp(mechanism, "gaussian") == 0)
        p.input = array("in.npy", SOTTO_F4, 3);
    unlink(path_of("l.jsonl"));
    assert_int_equal(sotto_protect_file(&certificate, &p, NULL), SOTTO_OK);
    char *text = certificate_text(certificate);
    sotto_certificate_free(certificate);
    return text;
}

static void put(const char *text, const char *from, const char *to, char *out, size_t capacity)
{
    const char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(out, capacity, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static bool commitment_noted; /* in the last report */

static sotto_status verify(const char *text, const char *output)
{
    char *report = NULL;
    assert_int_equal(file_write(path_of("c.json"), text, strlen(text)), SOTTO_OK);
    sotto_status status = verify_json(&report, path_of("c.json"), output, path_of("l.jsonl"), NULL);
    commitment_noted = report && strstr(report, "input commitment");
    sotto_text_free(report);
    return status;
}

TEST(certificates_with_odd_facts)
{
    char text[8192];
    char *discrete = certificate_of("discrete-laplace");
    assert_int_equal(verify(discrete, npy), SOTTO_OK);
    assert_int_equal(verify(discrete, path_of("gone.npy")), SOTTO_ENOENT);
    const char *const exponents[] = {"\"lattice_exponent\": 500, \"was\": ",
                                     "\"lattice_exponent\": -500, \"was\": "};
    for (int i = 0; i < 2; i++) {
        put(discrete, "\"lattice_exponent\": ", exponents[i], text, sizeof text);
        assert_int_equal(verify(text, NULL), SOTTO_EGATE);
    }
    put(discrete, "\"input_commitment\"", "\"another_commitment\"", text, sizeof text);
    assert_int_equal(verify(text, NULL), SOTTO_EGATE);
    assert_non_null(strstr(sotto_error_text(), "input commitment"));
    sotto_text_free(discrete);
    /* nothing finite follows at delta 0, which the certificate denies */
    char *gaussian = certificate_of("gaussian");
    put(gaussian, "\"delta\": ", "\"delta\": 0.0, \"was\": ", text, sizeof text);
    assert_int_equal(verify(text, NULL), SOTTO_EGATE);
    sotto_text_free(gaussian);
}

/* An entry, properly hashed, that keeps neither the nonce nor the hash of the input. */
TEST(a_ledger_without_commitments)
{
    char text[8192], line[600], hash[SHA256_HEX], wanted[100];
    char *gaussian = certificate_of("gaussian");
    const char *entry = "{\"event\":\"torn\",\"index\":0,\"prev\":\""
                        "0000000000000000000000000000000000000000000000000000000000000000\"}";
    sha256_of(hash, entry, strlen(entry));
    int size = snprintf(line, sizeof line, "%.*s,\"hash\":\"%s\"}\n", (int)strlen(entry) - 1, entry, hash);
    unlink(path_of("l.jsonl"));
    assert_int_equal(file_write(path_of("l.jsonl"), line, (size_t)size), SOTTO_OK);
    const char *at = strstr(gaussian, "\"hash\": \"");
    assert_non_null(at);
    snprintf(wanted, sizeof wanted, "%.73s", at);
    snprintf(line, sizeof line, "\"hash\": \"%s", hash);
    put(gaussian, wanted, line, text, sizeof text);
    assert_int_equal(verify(text, NULL), SOTTO_EGATE);
    assert_true(commitment_noted);
    sotto_text_free(gaussian);
}

TEST_GROUP(.set_up = name_files, .tear_down = remove_folder)
