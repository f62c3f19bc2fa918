/* What the numbers mean, in plain words, and what they do not show. */
#include "report/page/page.h"

void section_words(struct page *p, const struct report *r)
{
    size_t records = 0;
    for (size_t i = 0; i < r->row_count; i++)
        if (r->rows[i].records > records)
            records = r->rows[i].records;
    page_html(p, "<h3 id=\"words\">In plain words</h3>\n<p>The question: can an attacker with access to a "
                 "model find out "
                 "<strong>whether one particular record was in its training data</strong> (up to ");
    page_count(p, (double)records);
    page_html(p,
              " private records here)? For medical or financial records, membership alone can reveal a "
              "secret.</p>\n<p><strong class=\"measured\">Measured.</strong> Attacks guess for records with "
              "known answers whether they were in the training data, and their correct guesses are counted. "
              "An AUC of 0.5 is guessing, 1 is perfect.</p>\n<p><strong class=\"proved\">Proved.</strong> A "
              "proof, if there is one, bounds every possible attack, also future ones. \xce\xb5 (epsilon) "
              "near 0 means that one record hardly changes what an attacker can observe; above about 20 the "
              "bound has no practical meaning.</p>\n<p><strong class=\"cost\">Cost.</strong> Noise that "
              "protects also makes the model less accurate, so every setting shows this cost. A model that "
              "is no longer useful does not count as protected.</p>\n<details open><summary>What this report "
              "does not show</summary><ul><li>That no attack exists. Attacks that found nothing are "
              "evidence, never a proof.</li><li>Protection of groups or of persons with several records: one "
              "record is the unit.</li><li>Other risks: leakage of the encoder's own (public) training data, "
              "inference of attributes that were not tested, side channels such as timing, and access to the "
              "unprotected files.</li><li>Results for other data, models or seeds: the intervals account for "
              "the choice of records for one trained model only.</li></ul></details>\n");
}
