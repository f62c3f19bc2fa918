/* src/core/dp/release/release.c, ledger.c, certificate.c: what a release writes, refuses, and leaves behind. */
#include "support/test.h"
#include "support/ledger_sums_of.h"
#include "support/exercise.h"
#include "support/temporary_folder.h"

#include "base/file.h"
#include "dp/ledger/ledger.h"
#include "io/json/json.h"
#include "sotto/private/all.h"
#include "support/certificate_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sotto_release ordinary(const char *ledger)
{
    return (struct sotto_release){
        .mechanism = "logistic",
        .scale = 0.5,
        .target = {NAN, 1e-5},
        .sensitivity = {.l1 = 1, .l2 = NAN, .source = SOTTO_SENSITIVITY_GIVEN},
        .spend = {.dataset_id = "toy", .source = &exercise, .ledger = ledger, .purpose = "test"},
        .input_sha256 = "00"};
}

TEST(a_release_writes_ledger_and_certificate)
{
    const char *path = path_of("a.jsonl");
    struct sotto_release r = ordinary(path);
    float v[3] = {1, 2, 3};
    struct sotto_certificate *certificate = NULL;
    assert_int_equal(sotto_dp_release(&certificate, v, 3, &r, NULL), SOTTO_OK);
    assert_true(v[0] != 1 && v[1] != 2 && v[2] != 3);
    assert_true(certificate_holds(certificate, "\"proved\": \"none\""));
    assert_true(certificate_holds(certificate, "as stated by the caller, not checked"));
    assert_int_equal(sotto_certificate_save(path_of("a.json"), certificate, "ff"), SOTTO_OK);
    struct json *saved;
    assert_int_equal(json_read_file(&saved, path_of("a.json")), SOTTO_OK);
    assert_string_equal(json_text(json_find(saved, "output_sha256")), "ff");
    struct ledger l;
    assert_int_equal(ledger_read(&l, path), SOTTO_OK);
    assert_int_equal(l.entries, 2); /* the charge, and the line of the file that came out of it */
    assert_int_equal(l.charges, 1);
    assert_string_equal(json_text(json_find(saved, "ledger.hash")), sotto_certificate_hash(certificate));
    assert_int_equal(json_whole(json_find(saved, "ledger.charge")), 0);
    assert_null(json_find(saved, "ledger.index"));
    assert_true(sums_of(&l)->conditional.releases == 1 && sums_of(&l)->proved.releases == 0);
    assert_true(fabs(sums_of(&l)->conditional.pure.high - 2) < 1e-10);
    ledger_close(&l);
    json_free(saved);
    sotto_certificate_free(certificate);
}

TEST(nothing_is_touched_when_an_input_is_wrong)
{
    const struct {
        double scale, epsilon, delta, l1;
        float value;
        const char *text;
    } cases[] = {
        {-1, NAN, 0, 1, 0, "scale must be greater than 0 (got -1)"},
        {0, NAN, 0, 1, 0, "release: neither a scale nor a target epsilon is given; give one of them"},
        {INFINITY, NAN, 0, 1, 0, "scale must be greater than 0 and at most 1e+100 (got inf)"},
        {NAN, NAN, 0, 1, 0, "release: neither a scale nor a target epsilon is given; give one of them"},
        {NAN, -1, 0, 1, 0, "epsilon must be greater than 0 (got -1)"},
        {NAN, 1e-320, 0, 1, 0, "epsilon must be at least 1e-100 and at most 1e+100 (got 9.99989e-321)"},
        {1, NAN, 1, 1, 0, "delta must be at least 0 and below 1 (got 1)"},
        {1, NAN, -1e-5, 1, 0, "delta must be at least 0 and below 1 (got -1e-05)"},
        {1, NAN, 1e-320, 1, 0, "delta must be 0 or at least 2.22507e-308 (got 9.99989e-321)"},
        {1, NAN, 0, 0, 0, "sensitivity: neither l1 nor l2 is given; expected at least one norm"},
        {1, NAN, 0, NAN, 0, "sensitivity: neither l1 nor l2 is given; expected at least one norm"},
        {1, NAN, 0, 1e200, 0, "sensitivity l1 must be greater than 0 and at most 1e+100 (got 1e+200)"},
        {1, NAN, 0, 1, NAN, "release: value 1 of 2 is NaN; all must be finite"},
        {1, NAN, 0, 1, INFINITY, "release: value 1 of 2 is infinite; all must be finite"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sotto_release r = ordinary(path_of("never.jsonl"));
        r.scale = cases[i].scale;
        r.target = (struct sotto_dp){cases[i].epsilon, cases[i].delta};
        r.sensitivity.l1 = cases[i].l1;
        float v[2] = {7, cases[i].value};
        struct sotto_certificate *certificate = NULL;
        assert_int_equal(sotto_dp_release(&certificate, v, 2, &r, NULL), SOTTO_EINVAL);
        assert_string_equal(sotto_error_text(), cases[i].text);
        assert_null(certificate);
        assert_true(v[0] == 7);
        assert_false(file_exists(path_of("never.jsonl")));
    }
}

TEST_GROUP(.before = make_folder, .after = remove_folder)
