/* How good a model's answers to labelled records are. */
#include "audit/measure/confusion.h"
#include "audit/measure/metrics.h"
#include "base/memory.h"
#include "sotto/lab/audit.h"

#include <math.h>

enum { DRAWS = 1000 };
static const double confidence = 0.95;

/* ln of the sum of e^x; 0 for probabilities. */
static double log_sum(const float *row, size_t classes, bool logits)
{
    double most = (double)row[0], sum = 0;
    for (size_t k = 1; k < classes; k++)
        most = fmax(most, (double)row[k]);
    for (size_t k = 0; k < classes; k++)
        sum += exp((double)row[k] - most);
    return logits ? most + log(sum) : 0;
}

/* Class 1 of two, else each class that occurs beside others. */
static sotto_status measure_area(struct sotto_estimate *out, const float *answers, bool logits,
                                 const int64_t *labels, const size_t *occurs, size_t n, size_t classes)
{
    sotto_status status = SOTTO_OK;
    double *side = NULL, sum = 0, count = 0;
    *out = (struct sotto_estimate){NAN, NAN, NAN};
    NEW_ROWS(side, n, 2);
    double *log_sums = side + n;
    for (size_t i = 0; i < n; i++)
        log_sums[i] = log_sum(answers + i * classes, classes, logits);
    for (size_t k = classes == 2; k < classes; k++) {
        size_t inside = 0, outside = occurs[k];
        if (occurs[k] == 0 || occurs[k] == n)
            continue;
        for (size_t i = 0; i < n; i++) /* those of the class come first */
            side[labels[i] == (int64_t)k ? inside++ : outside++] =
                (double)answers[i * classes + k] - log_sums[i];
        TRY(estimate_auc(out, side, occurs[k], side + occurs[k], n - occurs[k], confidence));
        sum += out->estimate;
        count++;
    }
    if (classes != 2)
        *out = (struct sotto_estimate){count > 0 ? sum / count : NAN, NAN, NAN};
done:
    base_free(side);
    return status;
}

sotto_status sotto_answer_quality(struct sotto_answer_quality *out, int64_t *confusion, const float *answers,
                                  int logits, const int64_t *labels, size_t n, size_t classes)
{
    sotto_status status = SOTTO_OK;
    struct confusion_scores scores;
    int64_t *guess = NULL;
    size_t *occurs = NULL;
    REQUIRE_GIVEN(out, answers, labels);
    REQUIRE(n > 0 && classes > 0, "answer_quality: %zu records of %zu classes; expected at least one of each",
            n, classes);
    NEW(guess, n);
    NEW(occurs, classes);
    for (size_t i = 0; confusion && i < classes * classes; i++)
        confusion[i] = 0;
    for (size_t i = 0; i < n; i++) {
        const float *row = answers + i * classes;
        size_t best = 0;
        REQUIRE(labels[i] >= 0 && (uint64_t)labels[i] < classes,
                "labels: row %zu is %lld; the model has classes 0 to %zu", i, (long long)labels[i],
                classes - 1);
        for (size_t k = 0; k < classes; k++) {
            REQUIRE(isfinite(row[k]), "answers: row %zu is not finite", i);
            best = row[k] > row[best] ? k : best;
        }
        guess[i] = (int64_t)best;
        occurs[labels[i]]++;
        if (confusion)
            confusion[(size_t)labels[i] * classes + best]++;
    }
    *out = (struct sotto_answer_quality){.records = n, .classes = classes};
    for (size_t k = 1; k < classes; k++)
        if (occurs[k] > occurs[out->majority])
            out->majority = k;
    out->majority_share = (double)occurs[out->majority] / (double)n;
    TRY(confusion_measure(&scores, labels, guess, n, classes, DRAWS, confidence, 1, 0));
    out->accuracy = scores.accuracy;
    out->balanced = scores.balanced;
    TRY(measure_area(&out->auc, answers, logits != 0, labels, occurs, n, classes));
done:
    base_free(guess);
    base_free(occurs);
    return status;
}
