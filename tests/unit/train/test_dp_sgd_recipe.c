/* The text that says how a network was trained privately, written and read back. */
#include "support/test.h"

#include "train/private/dp_sgd.h"

#include <math.h>
#include <string.h>

enum { RECORDS = 1000 };

static struct sotto_train_options options(void)
{
    struct sotto_train_options o;
    sotto_train_defaults(&o);
    o.dtype = "f32", o.backend = "ref"; /* nothing is trained */
    o.batch = 50;
    o.flip = 1;
    return o;
}

TEST(what_is_written_is_read)
{
    const struct sotto_train_options o = options();
    static const char *const clippings[] = {"flat", "automatic", "layers", "quantile"};
    for (size_t i = 0; i < 4; i++) {
        char text[DP_SGD_TEXT], again[DP_SGD_TEXT];
        struct sotto_train_privacy p, read;
        sotto_train_privacy_defaults(&p);
        p.noise = i == 1 ? "logistic" : "gaussian";
        p.sampling = i == 0 ? SOTTO_SAMPLING_FIXED : SOTTO_SAMPLING_POISSON;
        p.noise_multiplier = 1.1 + 0.1 * (double)i;
        p.max_grad_norm = 1.0 / 3;
        p.clipping = clippings[i];
        p.quantile = 0.3;
        p.views = 1 + i;
        p.average = i == 3 ? 0.99 : 0;
        p.objective = i == 2 ? "rotation" : NULL;
        assert_int_equal(dp_sgd_resolve(&p, &o, RECORDS, NULL), SOTTO_OK);
        assert_int_equal(dp_sgd_describe(text, &p), SOTTO_OK);
        assert_int_equal(dp_sgd_parse(&read, text, "file", &o), SOTTO_OK);
        assert_int_equal(dp_sgd_describe(again, &read), SOTTO_OK);
        assert_string_equal(text, again);
        assert_int_equal(read.steps, p.steps);
        assert_ptr_equal(read.clipping, p.clipping); /* static: the file may go */
        assert_ptr_equal(read.objective, p.objective);
    }
}

static void refuse(const char *text, const char *expected)
{
    const struct sotto_train_options o = options();
    struct sotto_train_privacy p;
    assert_int_equal(dp_sgd_parse(&p, text, "file", &o), SOTTO_EFORMAT);
    if (!strstr(sotto_error_text(), expected))
        fail_msg("'%s' has no '%s'", sotto_error_text(), expected);
}

/* A good text with one line replaced, or left out where `line` is "". */
static void refuse_line(const char *key, const char *line, const char *expected)
{
    const struct sotto_train_options o = options();
    struct sotto_train_privacy p;
    char text[DP_SGD_TEXT], changed[2 * DP_SGD_TEXT] = "";
    sotto_train_privacy_defaults(&p);
    p.noise_multiplier = 1;
    assert_int_equal(dp_sgd_resolve(&p, &o, RECORDS, NULL), SOTTO_OK);
    assert_int_equal(dp_sgd_describe(text, &p), SOTTO_OK);
    for (char *at = text; *at; at = strchr(at, '\n') + 1) {
        size_t length = (size_t)(strchr(at, '\n') + 1 - at);
        if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == '=')
            strcat(changed, line);
        else
            strncat(changed, at, length);
    }
    refuse(changed, expected);
}

TEST(what_does_not_read_is_named)
{
    refuse("", "file: private_recipe has no 'trainer'");
    refuse("trainer=pate\n", "trainer 'pate' is unknown");
    refuse_line("steps", "", "private_recipe has no 'steps'");
    refuse_line("insecure", "insecure=0\nobjective=jigsaw\n",
                "objective 'jigsaw' is unknown; expected rotation");
    refuse_line("steps", "steps=-1\n", "steps=-1 is not a whole number");
    refuse_line("noise_multiplier", "noise_multiplier=much\n", "noise_multiplier=much is not a number");
    refuse_line("noise_multiplier", "noise_multiplier=nan\n", "noise_multiplier must be finite");
    refuse_line("noise", "noise=pink\n", "noise 'pink' is unknown");
    refuse_line("sampling", "sampling=cluster\n", "cluster");
    refuse_line("clipping", "clipping=a-very-long-word-that-does-not-fit\n", "clipping 'a-very-long");
}
