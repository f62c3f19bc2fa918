/* Guesses in one run: the test of a certificate's whole curve, and bounds under their own names; of one audited model, or
 * of the settings of an experiment with canaries. */
#include "report/page/page.h"

#include <math.h>

static void section_one_run_verdict(struct page *p, const struct json *curve)
{
    bool contradicted = false;
    const char *refused = part_text(curve, "refused");
    if (!curve)
        return;
    sotto_status ignored =
        json_get_boolean(&contradicted, curve, "report", "contradicted"); /* a schema's matter */
    (void)ignored;
    page_html(p, contradicted ? "<p class=\"unmet\"><strong>Curve contradicted</strong> at "
                 : refused    ? "<p class=\"note\"><strong>Curve not tested</strong>: "
                              : "<p><strong>Curve not contradicted</strong>, which is no proof, at ");
    if (refused)
        page_text(p, refused);
    else
        page_percent_plain(p, part_number(curve, "confidence"));
    page_html(p, refused ? ". The curve is that of " : " confidence: the trade-off curve of ");
    page_name(p, part_text(curve, "of"));
    page_html(p, " (");
    page_text(p, part_text(curve, "adjacency"));
    page_html(p, ")");
    if (!refused) {
        page_html(p, ", p = ");
        page_significant(p, part_number(curve, "p_value"), 3);
        page_html(p, " over ");
        page_count(p, part_number(curve, "attacks"));
        page_html(p, " attacks. Assumed: ");
        page_text(p, part_text(curve, "assumption"));
    }
    page_html(p, ".</p>\n");
}

static void section_one_run_lower(struct page *p, double x)
{
    page_html(p, "</td><td class=\"number\">");
    page_significant(p, x, 3);
}

static size_t count_bounds(const struct json *attacks)
{
    size_t count = 0;
    for (size_t i = 0; i < json_count(attacks); i++)
        count += part(json_at(attacks, i), "one_run_bounds") != NULL;
    return count;
}

/* The numbers of one audit: of a model's page, and of a setting beside others. */
static void bounds_cells(struct page *p, const struct json *attack)
{
    const struct json *run = part(attack, "one_run"), *bounds = part(attack, "one_run_bounds");
    page_html(p, "<td class=\"number\">");
    page_count(p, part_number(run, "right"));
    page_html(p, " of ");
    page_count(p, part_number(run, "guesses"));
    section_one_run_lower(p, part_number(run, "epsilon_lower_bound"));
    section_one_run_lower(p, part_number(bounds, "epsilon_lower_bound"));
    section_one_run_lower(p, part_number(bounds, "mu_lower_bound_if_gaussian"));
    section_one_run_lower(p, part_number(bounds, "epsilon_if_gaussian"));
    section_one_run_lower(p, part_number(bounds, "bayesian_epsilon.estimate"));
    page_html(p, " <span class=\"ci\">[");
    page_significant(p, part_number(bounds, "bayesian_epsilon.lower"), 3);
    page_html(p, ", ");
    page_significant(p, part_number(bounds, "bayesian_epsilon.upper"), 3);
    page_html(p, "]</span></td></tr>\n");
}

static void section_one_run_line(struct page *p, const struct json *attack)
{
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, part_text(attack, "name"));
    page_html(p, "</th>");
    bounds_cells(p, attack);
}

static void canary_line(struct page *p, const struct report_row *r)
{
    const struct json *curve = part(r->canaries, "audit.curve"),
                      *attack = json_at(part(r->canaries, "audit.attacks"), 0);
    const struct guarantee *g = r->proved.given ? &r->proved : &r->conditional;
    const char *refused = part_text(curve, "refused");
    page_html(p, "<tr><th scope=\"row\">");
    page_name(p, r->title);
    page_html(p, r->proof_counts ? "</th><td class=\"number proved\">["
                                 : "</th><td class=\"number conditional\">if [");
    page_significant(p, g->lower, 4);
    page_html(p, ", ");
    page_rounded_up(p, g->upper);
    page_html(p, "] at \xce\xb4 ");
    page_small(p, g->delta);
    page_html(p, ", ");
    page_text(p, part_text(curve, "adjacency"));
    page_html(p, "</td><td>");
    page_count(p, part_number(r->canaries, "count"));
    page_html(p, " ");
    page_text(p, part_text(r->canaries, "kind"));
    page_html(p, ", ");
    page_text(p, part_text(r->canaries, "access"));
    page_html(p, r->canaries_contradict ? "</td><td class=\"unmet\"><strong>contradicted</strong>, p = "
                 : refused              ? "</td><td>not tested: "
                                        : "</td><td>not contradicted, p = ");
    if (refused)
        page_text(p, refused);
    else
        page_significant(p, part_number(curve, "p_value"), 3);
    page_html(p, "</td>");
    bounds_cells(p, attack);
}

/* What is proved of each setting beside what its canaries show. */
static void section_canaries(struct page *p, const struct report *r)
{
    double confidence = NAN;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].canaries)
            confidence = part_number(r->rows[i].canaries, "audit.curve.confidence");
    if (isnan(confidence))
        return;
    page_html(p, "<section id=\"canaries\" aria-labelledby=\"h-canaries\"><h2 id=\"h-canaries\">Certificates "
                 "and audits by canaries</h2>\n");
    page_table(p, "Certificates and audits by canaries",
               "Coins of the operating system decided which canaries a training saw; the number of guesses "
               "about them was fixed before it. The certified interval is <strong>proved</strong>; what "
               "stands to the right of it is <strong>measured</strong> in that one training, each figure at ",
               NULL);
    page_percent_plain(p, confidence);
    page_html(
        p, " by itself. A curve that is not contradicted is not proved by that. Lower bounds: Steinke and "
           "recursion for every mechanism; those of &mu; and of the next column <strong>only if the "
           "trade-off curve is Gaussian</strong>; the Bayesian interval is a posterior under Jeffreys "
           "priors, with its median. Guesses are counted in the direction that is right more often; the two "
           "directions share the error.");
    page_columns(p, "Setting|^proved^Certified &epsilon;|Canaries, access|Whole curve|^Right|^&epsilon; &ge; "
                    "(Steinke)|^&epsilon; &ge; (recursion)|^&mu; &ge; (if Gaussian)|^&epsilon; &ge; (if "
                    "Gaussian)|^&epsilon; (Bayesian)");
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].canaries)
            canary_line(p, &r->rows[i]);
    page_table_end(p);
    page_html(p, "</section>\n");
}

void section_one_run(struct page *p, const struct report *r)
{
    section_canaries(p, r);
    for (size_t i = 0; i < r->row_count; i++) {
        const struct json *attacks = part(r->rows[i].audit, "attacks"),
                          *curve = part(r->rows[i].audit, "curve");
        if (!curve && count_bounds(attacks) == 0)
            continue;
        page_html(
            p, "<section id=\"one-run\" aria-labelledby=\"h-one-run\"><h2 id=\"h-one-run\">One run</h2>\n");
        section_one_run_verdict(p, curve);
        if (count_bounds(attacks) > 0) {
            page_table(
                p, "Guesses in one run",
                "Lower bounds from the surest guesses about records that were members by independent fair "
                "coins. The first two hold for every mechanism; those of &mu; and of the next column "
                "<strong>only if the trade-off curve is Gaussian</strong>; the Bayesian interval is a "
                "posterior under Jeffreys priors, with its median. Guesses are counted in the direction that "
                "is "
                "right more often: high scores are in, or high scores are out. The two directions share the "
                "error.",
                "Attack|^Right|^&epsilon; &ge; (Steinke)|^&epsilon; &ge; (recursion)|^&mu; &ge; (if "
                "Gaussian)|^&epsilon; &ge; (if Gaussian)|^&epsilon; (Bayesian)");
            for (size_t k = 0; k < json_count(attacks); k++)
                if (part(json_at(attacks, k), "one_run_bounds"))
                    section_one_run_line(p, json_at(attacks, k));
            page_table_end(p);
        }
        page_html(p, "</section>\n");
    }
}
