#include "audit/audit_fields.h"

#include "sotto/audit.h"

#include <math.h>

#define END FIELDS_END
#define VALUE FIELD_OF
#define TEXT FIELD_TEXT_OF
#define REAL FIELD_REAL_OF
#define COUNT FIELD_COUNT_OF
#define FLAG FIELD_FLAG_OF
#define PART FIELD_PART_OF
#define MERGED FIELD_MERGED_OF
#define POINTER FIELD_POINTER_OF
#define MERGED_POINTER FIELD_MERGED_POINTER_OF
#define MANY FIELD_MANY_OF
#define THRESHOLD(t, m) VALUE("threshold", FIELD_REAL, FIELD_INFINITE, t, m)
#define ESTIMATE(k, t, m) PART(k, 0, t, m, audit_estimate_fields)

const char *const audit_level_names[] = {"ok", "warning", "unknown", NULL};

const struct field audit_estimate_fields[] = {REAL("estimate", struct sotto_estimate, estimate),
                                              REAL("lower", struct sotto_estimate, lower),
                                              REAL("upper", struct sotto_estimate, upper), END};
#define T struct sotto_audit_parameter
static const struct field parameter[] = {TEXT(NULL, T, name), REAL(NULL, T, value), END};
#undef T

/* ---- one attack ---- */

#define T struct sotto_audit_flagged
#define PPV(k, i) PART(k, FIELD_NULLABLE, T, ppv[i], audit_estimate_fields)
static const struct field ppv[] = {PPV("0.5", 0), PPV("0.1", 1), PPV("0.01", 2), END};
static const struct field flagged[] = {MERGED(T, tpr, audit_estimate_fields),
                                       THRESHOLD(T, threshold),
                                       ESTIMATE("realised_fpr", T, fpr),
                                       FIELD_GROUP_OF("ppv", ppv),
                                       COUNT("n_member", T, n_member),
                                       COUNT("n_nonmember", T, n_nonmember),
                                       END};
static const struct field transferred[] = {THRESHOLD(T, threshold),
                                           ESTIMATE("tpr", T, tpr),
                                           ESTIMATE("fpr", T, fpr),
                                           FIELD_GROUP_OF("ppv", ppv),
                                           COUNT("n_member", T, n_member),
                                           COUNT("n_nonmember", T, n_nonmember),
                                           END};
#undef T
#define T struct sotto_audit_tpr
static const struct field tpr[] = {MERGED(T, rate, audit_estimate_fields),
                                   REAL("confidence", T, confidence),
                                   TEXT("method", T, method),
                                   VALUE("no_lower", FIELD_TEXT, FIELD_OPTIONAL, T, no_lower),
                                   REAL("realised_fpr", T, realised_fpr),
                                   VALUE("draws", FIELD_COUNT, FIELD_OPTIONAL, T, draws),
                                   COUNT("n_member", T, n_member),
                                   COUNT("n_nonmember", T, n_nonmember),
                                   END};
#undef T
#define T struct sotto_audit_rate
static const struct field rate[] = {MERGED(T, tpr, tpr), FLAG("weak", T, weak), END};
static const struct field fixed[] = {MERGED(T, fixed, flagged), REAL("least_detectable", T, least_detectable),
                                     END};
static const struct field rates_measured[] = {
    REAL(NULL, T, fpr), {.key = NULL, .kind = FIELD_PART, .flags = FIELD_NULLABLE, .inner = rate}, END};
static const struct field rates_refused[] = {REAL(NULL, T, fpr),
                                             VALUE(NULL, FIELD_TEXT, FIELD_OPTIONAL, T, refused), END};
static const struct field rates_simultaneous[] = {REAL(NULL, T, fpr),
                                                  PART(NULL, FIELD_NULLABLE, T, simultaneous, tpr), END};
static const struct field rates_fixed[] = {
    REAL(NULL, T, fpr), {.key = NULL, .kind = FIELD_PART, .flags = FIELD_NULLABLE, .inner = fixed}, END};
#undef T
#define T struct sotto_audit_auc
static const struct field auc[] = {MERGED(T, area, audit_estimate_fields), TEXT("method", T, method), END};
#undef T
#define T struct sotto_audit_balanced
static const struct field balanced[] = {
    MERGED(T, accuracy, audit_estimate_fields), THRESHOLD(T, threshold),   COUNT("n_member", T, n_member),
    COUNT("n_nonmember", T, n_nonmember),       REAL("oracle", T, oracle), END};
#undef T
#define T struct sotto_audit_decision
static const struct field decision[] = {MERGED(T, balanced_accuracy, audit_estimate_fields),
                                        THRESHOLD(T, threshold),
                                        TEXT("from", T, from),
                                        ESTIMATE("tpr", T, tpr),
                                        ESTIMATE("fpr", T, fpr),
                                        COUNT("n_member", T, n_member),
                                        COUNT("n_nonmember", T, n_nonmember),
                                        END};
#undef T
#define T struct sotto_audit_bound
static const struct field bound_rates[] = {THRESHOLD(T, threshold),
                                           REAL("tpr", T, tpr.estimate),
                                           REAL("tpr_lower", T, tpr.lower),
                                           REAL("tpr_upper", T, tpr.upper),
                                           REAL("fpr", T, fpr.estimate),
                                           REAL("fpr_lower", T, fpr.lower),
                                           REAL("fpr_upper", T, fpr.upper),
                                           REAL("delta", T, delta),
                                           REAL("confidence", T, confidence),
                                           COUNT("n_member", T, n_member),
                                           COUNT("n_nonmember", T, n_nonmember),
                                           END};
static const struct field bound[] = {{.kind = FIELD_MERGED, .inner = bound_rates},
                                     TEXT("assumption", T, assumption),
                                     VALUE("group_size", FIELD_COUNT, FIELD_OPTIONAL, T, group_size),
                                     END};
#undef T
#define T struct sotto_audit_best
static const struct field best[] = {REAL("epsilon_lower_bound", T, lower_bound),
                                    TEXT("bound", T, bound),
                                    COUNT("bounds", T, bounds),
                                    REAL("delta", T, delta),
                                    REAL("confidence", T, confidence),
                                    END};
#undef T
#define T struct sotto_audit_attack_claim
static const struct field attack_claim[] = {MERGED(T, best, best), FLAG("contradicted", T, contradicted),
                                            END};
#undef T
#define T struct sotto_audit_simultaneous
static const struct field simultaneous[] = {REAL("confidence", T, confidence), ESTIMATE("auc", T, auc),
                                            ESTIMATE("balanced_accuracy", T, balanced_accuracy),
                                            PART("epsilon", 0, T, epsilon, best), END};
#undef T
#define T struct sotto_audit_one_run
static const struct field one_run[] = {
    COUNT("records", T, records),      COUNT("guesses", T, guesses),
    COUNT("right", T, right),          REAL("delta", T, delta),
    REAL("confidence", T, confidence), REAL("epsilon_lower_bound", T, lower_bound),
    TEXT("assumption", T, assumption), END};
#undef T
#define T struct sotto_audit_one_run_bounds
static const struct field one_run_bounds[] = {REAL("epsilon_lower_bound", T, epsilon),
                                              TEXT("epsilon_assumes", T, epsilon_assumes),
                                              REAL("mu_lower_bound_if_gaussian", T, mu),
                                              REAL("epsilon_if_gaussian", T, gaussian_epsilon),
                                              TEXT("mu_assumes", T, mu_assumes),
                                              ESTIMATE("bayesian_epsilon", T, bayesian),
                                              TEXT("bayesian_assumes", T, bayesian_assumes),
                                              REAL("delta", T, delta),
                                              REAL("confidence", T, confidence),
                                              END};
#undef T
#define T struct sotto_audit_odds
static const struct field odds[] = {MERGED(T, ln_odds_ratio, audit_estimate_fields),
                                    THRESHOLD(T, threshold),
                                    TEXT("of", T, of),
                                    COUNT("n_member", T, n_member),
                                    COUNT("n_nonmember", T, n_nonmember),
                                    END};
#undef T
#define T struct sotto_audit_fallback
#define ROWS_OF(k, m, n) MANY(k, FIELD_COUNTS, FIELD_OPTIONAL | FIELD_SAME_COUNT, T, m, n, NULL)
static const struct field fallback[] = {COUNT("member", T, member), COUNT("nonmember", T, nonmember),
                                        ROWS_OF("member_rows", member_rows, member),
                                        ROWS_OF("nonmember_rows", nonmember_rows, nonmember), END};
#undef T
#define T struct sotto_audit_histogram
static const struct field histogram[] = {
    REAL("lower", T, lower), REAL("upper", T, upper), MANY("member", FIELD_COUNTS, 0, T, member, bins, NULL),
    MANY("nonmember", FIELD_COUNTS, FIELD_SAME_COUNT, T, nonmember, bins, NULL), END};
#undef T
#define T struct sotto_audit_generative
static const struct field generative[] = {TEXT("access", T, access),
                                          REAL("radius", T, radius),
                                          COUNT("lowest_tied", T, lowest_tied),
                                          REAL("top_share", T, top_share),
                                          ESTIMATE("set_accuracy", T, set_accuracy),
                                          COUNT("set_draws", T, set_draws),
                                          COUNT("set_size", T, set_size),
                                          END};
#undef T
#define T struct sotto_audit_p_values
static const struct field p_values[] = {REAL("level", T, level),
                                        ESTIMATE("member_normal", T, member_normal),
                                        ESTIMATE("member_conformal", T, member_conformal),
                                        ESTIMATE("nonmember_normal", T, nonmember_normal),
                                        FLAG("normal_refuted", T, normal_refuted),
                                        END};
#undef T
#define T struct sotto_audit_attack
static const struct field attack[] = {
    VALUE("name", FIELD_TEXT, FIELD_REQUIRED, T, name),
    TEXT("title", T, title),
    TEXT("source", T, source),
    COUNT("n_member", T, n_member),
    COUNT("n_nonmember", T, n_nonmember),
    PART("auc", 0, T, auc, auc),
    MANY("tpr_at_fpr", FIELD_MAP, 0, T, rates, rate_count, rates_measured),
    MANY("tpr_at_fpr_refused", FIELD_MAP, FIELD_SAME_COUNT, T, rates, rate_count, rates_refused),
    MANY("tpr_at_fpr_simultaneous", FIELD_MAP, FIELD_SAME_COUNT, T, rates, rate_count, rates_simultaneous),
    MANY("tpr_at_threshold", FIELD_MAP, FIELD_SAME_COUNT, T, rates, rate_count, rates_fixed),
    PART("tpr_at_zero_false_positives", 0, T, at_zero, flagged),
    REAL("balanced_accuracy", T, balanced.accuracy.estimate),
    PART("balanced_accuracy_detail", 0, T, balanced, balanced),
    REAL("advantage", T, advantage),
    POINTER("own_decision", FIELD_OPTIONAL, T, decision, decision),
    REAL("epsilon_lower_bound", T, epsilon.lower_bound),
    PART("epsilon_detail", 0, T, epsilon, bound),
    PART("epsilon_best", 0, T, epsilon_best, best),
    PART("simultaneous", 0, T, simultaneous, simultaneous),
    POINTER("claim", FIELD_OPTIONAL, T, claim, attack_claim),
    POINTER("one_run", FIELD_OPTIONAL, T, one_run, one_run),
    POINTER("one_run_bounds", FIELD_OPTIONAL, T, one_run_bounds, one_run_bounds),
    POINTER("odds_ratio", FIELD_OPTIONAL, T, odds, odds),
    POINTER("fallback", FIELD_OPTIONAL, T, fallback, fallback),
    POINTER("p_values", FIELD_OPTIONAL, T, p_values, p_values),
    MANY("roc", FIELD_PAIRS, 0, T, roc, roc_count, NULL),
    PART("histogram", 0, T, histogram, histogram),
    MANY("parameters", FIELD_MAP, FIELD_OPTIONAL, T, parameters, parameter_count, parameter),
    POINTER("generative", FIELD_OPTIONAL, T, generative, generative),
    END};
#undef T

/* ---- what comes before the attacks ---- */

#define T struct sotto_audit_class
static const struct field accuracy[] = {MERGED(struct sotto_audit_accuracy, rate, audit_estimate_fields),
                                        COUNT("n", struct sotto_audit_accuracy, n), END};
static const struct field class_accuracy[] = {COUNT("class", T, class_number), MERGED(T, accuracy, accuracy),
                                              END};
#undef T
#define T struct sotto_audit_accuracies
static const struct field accuracies[] = {
    PART("member", 0, T, member, accuracy), PART("nonmember", 0, T, nonmember, accuracy), REAL("gap", T, gap),
    MANY("by_class", FIELD_LIST, FIELD_OPTIONAL, T, by_class, class_count, class_accuracy), END};
#undef T
#define T struct sotto_audit_duplicates
static const struct field duplicates[] = {TEXT("compared", T, compared),
                                          COUNT("members", T, members),
                                          COUNT("nonmembers", T, nonmembers),
                                          COUNT("within_members", T, within_members),
                                          COUNT("within_nonmembers", T, within_nonmembers),
                                          END};
#undef T
#define T struct sotto_audit_shift
static const struct field shift[] = {ESTIMATE("auc", T, auc), COUNT("n", T, n), END};
#undef T
#define T struct sotto_audit_classes
static const struct field classes[] = {
    REAL("p", T, p), MANY("member", FIELD_COUNTS, 0, T, member, classes, NULL),
    MANY("nonmember", FIELD_COUNTS, FIELD_SAME_COUNT, T, nonmember, classes, NULL), END};
#undef T
#define T struct sotto_audit_rounding
static const struct field rounding[] = {REAL("step", T, step),
                                        COUNT("saturated_members", T, saturated_members),
                                        COUNT("saturated_nonmembers", T, saturated_nonmembers), END};
#undef T
#define T struct sotto_audit_check
static const struct field check[] = {VALUE("name", FIELD_TEXT, FIELD_REQUIRED, T, name),
                                     FIELD_CHOICE_OF("level", FIELD_REQUIRED, T, level, audit_level_names),
                                     TEXT("text", T, text),
                                     MERGED_POINTER(T, duplicates, duplicates),
                                     MERGED_POINTER(T, shift, shift),
                                     MERGED_POINTER(T, classes, classes),
                                     POINTER("gap", FIELD_OPTIONAL, T, gap, audit_estimate_fields),
                                     POINTER("rounding", FIELD_OPTIONAL, T, rounding, rounding),
                                     END};
#undef T
#define T struct sotto_audit_claim
static const struct field claim[] = {REAL("epsilon", T, epsilon),
                                     REAL("delta", T, delta),
                                     FLAG("contradicted", T, contradicted),
                                     REAL("epsilon_lower_bound", T, lower_bound),
                                     TEXT("attack", T, attack),
                                     TEXT("bound", T, bound),
                                     REAL("confidence", T, confidence),
                                     COUNT("attacks", T, attacks),
                                     END};
#undef T
#define T struct sotto_audit_curve
static const struct field curve[] = {TEXT("of", T, of),
                                     TEXT("adjacency", T, adjacency),
                                     VALUE("refused", FIELD_TEXT, FIELD_OPTIONAL, T, refused),
                                     FLAG("contradicted", T, contradicted),
                                     REAL("p_value", T, p_value),
                                     REAL("confidence", T, confidence),
                                     TEXT("attack", T, attack),
                                     COUNT("attacks", T, attacks),
                                     TEXT("assumption", T, assumption),
                                     END};
#undef T
#define T struct sotto_audit_slice
static const struct field slice[] = {
    TEXT("name", T, name),
    COUNT("n_member", T, n_member),
    COUNT("n_nonmember", T, n_nonmember),
    PART("auc", FIELD_NULLABLE, T, auc, audit_estimate_fields),
    VALUE("refused", FIELD_TEXT, FIELD_OPTIONAL, T, refused),
    PART("tpr", FIELD_OPTIONAL, T, tpr, audit_estimate_fields),
    PART("fpr", FIELD_OPTIONAL, T, fpr, audit_estimate_fields),
    VALUE("scored_member", FIELD_COUNT, FIELD_OPTIONAL, T, scored_member),
    VALUE("scored_nonmember", FIELD_COUNT, FIELD_OPTIONAL, T, scored_nonmember),
    END};
#undef T
#define T struct sotto_audit_slices
static const struct field slices[] = {TEXT("attack", T, attack), THRESHOLD(T, threshold),
                                      REAL("confidence", T, confidence),
                                      MANY("rows", FIELD_LIST, 0, T, rows, count, slice), END};
#undef T
#define T struct sotto_audit_spread
static const struct field spread[] = {REAL("mean", T, mean), REAL("deviation", T, deviation),
                                      REAL("lowest", T, lowest), REAL("highest", T, highest), END};
#undef T
#define T struct sotto_audit_spread_rate
static const struct field spread_tpr[] = {REAL(NULL, T, fpr), PART(NULL, 0, T, tpr, spread), END};
static const struct field spread_transferred[] = {REAL(NULL, T, fpr),
                                                  PART(NULL, 0, T, transferred, transferred), END};
#undef T
#define T struct sotto_audit_stability
static const struct field stability[] = {REAL("fpr", T, fpr),        REAL("jaccard", T, jaccard),
                                         COUNT("pairs", T, pairs),   COUNT("steady", T, steady),
                                         COUNT("judged", T, judged), END};
#undef T
#define T struct sotto_audit_left_out
static const struct field left_out[] = {
    VALUE("name", FIELD_TEXT, FIELD_REQUIRED, T, name),
    COUNT("targets", T, targets),
    PART("auc", FIELD_NULLABLE, T, auc, spread),
    MANY("tpr_at_fpr", FIELD_MAP, 0, T, rates, rate_count, spread_tpr),
    MANY("transferred", FIELD_MAP, FIELD_SAME_COUNT, T, rates, rate_count, spread_transferred),
    POINTER("stability", FIELD_OPTIONAL | FIELD_NULLABLE, T, stability, stability),
    END};
#undef T
#define T struct sotto_audit_refound
static const struct field refound[] = {COUNT("runs", T, runs), COUNT("flagged", T, flagged),
                                       COUNT("others", T, others), COUNT("mistaken", T, mistaken), END};
#undef T
#define T struct sotto_audit_vulnerable_member
static const struct field vulnerable_member[] = {VALUE("row", FIELD_ROW, 0, T, row),
                                                 REAL("score", T, score),
                                                 COUNT("nonmembers_as_high", T, nonmembers_as_high),
                                                 FLAG("fallback", T, fallback),
                                                 POINTER("repeats", 0, T, repeats, refound),
                                                 REAL("separation", T, separation),
                                                 END};
#undef T
#define T struct sotto_audit_vulnerable
static const struct field vulnerable[] = {
    TEXT("attack", T, attack), COUNT("n_nonmember", T, n_nonmember),
    MANY("members", FIELD_LIST, 0, T, members, count, vulnerable_member), END};
#undef T

#define T struct sotto_memorised
static const struct field memorised[] = {VALUE("row", FIELD_ROW, 0, T, row),
                                         FLAG("member", T, member),
                                         ESTIMATE("value", T, value),
                                         REAL("probability", T, probability),
                                         COUNT("in", T, in),
                                         COUNT("out", T, out),
                                         END};
#undef T
#define T struct sotto_audit_memorisation
static const struct field memorisation[] = {TEXT("right", T, right),
                                            COUNT("least_models", T, least),
                                            COUNT("judged", T, judged),
                                            REAL("above_half", T, above_half),
                                            PART("histogram", 0, T, histogram, histogram),
                                            MANY("highest", FIELD_LIST, 0, T, highest, count, memorised),
                                            END};
#undef T

/* ---- attributes and encoders ---- */

#define T struct sotto_attribute_scores
static const struct field attribute_scores[] = {VALUE("name", FIELD_TEXT, FIELD_OPTIONAL, T, name),
                                                VALUE("layers", FIELD_COUNT, FIELD_OPTIONAL, T, layers),
                                                ESTIMATE("accuracy", T, accuracy),
                                                ESTIMATE("balanced_accuracy", T, balanced_accuracy),
                                                ESTIMATE("macro_f1", T, macro_f1),
                                                END};
#undef T
#define T struct sotto_attribute_step
static const struct field attribute_step[] = {MERGED(T, accuracy, audit_estimate_fields),
                                              REAL("share", T, share), COUNT("n", T, n), END};
#undef T
#define T struct sotto_attribute_result
static const struct field gain[] = {MERGED(T, gain, audit_estimate_fields), TEXT("over", T, gain_over), END};
static const struct field attribute[] = {
    COUNT("n", T, n),
    COUNT("values", T, values),
    COUNT("n_known", T, n_known),
    COUNT("n_test", T, n_test),
    REAL("confidence", T, confidence),
    COUNT("draws", T, draws),
    TEXT("model", T, model),
    MANY("validation_balanced_accuracy", FIELD_MAP, 0, T, validation, validation_count, parameter),
    MANY("learning_curve", FIELD_LIST, 0, T, curve, curve_count, attribute_step),
    MANY("depths", FIELD_LIST, FIELD_OPTIONAL, T, depths, depth_count, attribute_scores),
    PART("attack", 0, T, attack, attribute_scores),
    MANY("baselines", FIELD_LIST, 0, T, baselines, baseline_count, attribute_scores),
    FIELD_GROUP_OF("gain", gain),
    END};
#undef T
#define T struct sotto_encoder_facts
static const struct field encoder[] = {
    TEXT("about", T, about),
    COUNT("views", T, views),
    COUNT("bank", T, bank),
    COUNT("shadow_members", T, shadow_members),
    COUNT("shadow_nonmembers", T, shadow_nonmembers),
    COUNT("views_without_direction", T, views_without_direction),
    MANY("shadow_auc", FIELD_MAP, 0, T, shadow_auc, shadow_auc_count, parameter),
    END};
#undef T

#define T struct sotto_generator_nearest
static const struct field nearest[] = {VALUE("row", FIELD_ROW, 0, T, row), REAL("distance", T, distance),
                                       TEXT("picture", T, picture), END};
#undef T
#define T struct sotto_generator_facts
static const struct field generator[] = {
    COUNT("samples", T, samples),
    COUNT("reference_samples", T, reference_samples),
    COUNT("attacker_records", T, attacker_records),
    VALUE("sheet", FIELD_TEXT, FIELD_OPTIONAL, T, sheet),
    MANY("nearest", FIELD_LIST, FIELD_OPTIONAL, T, nearest, nearest_count, nearest),
    END};
#undef T

/* ---- the document, after its "schema" ---- */

#define T struct sotto_audit_result
const struct field audit_result_fields[] = {
    TEXT("version", T, version),
    TEXT("input", T, input),
    COUNT("n_member", T, n_member),
    COUNT("n_nonmember", T, n_nonmember),
    VALUE("classes", FIELD_COUNT, FIELD_NULLABLE, T, classes),
    REAL("confidence", T, confidence),
    REAL("delta", T, delta),
    VALUE("seed", FIELD_SEED, 0, T, seed),
    POINTER("accuracy", 0, T, accuracy, accuracies),
    MANY("lint", FIELD_LIST, FIELD_OPTIONAL, T, checks, check_count, check),
    POINTER("claim", FIELD_OPTIONAL, T, claim, claim),
    POINTER("curve", FIELD_OPTIONAL, T, curve, curve),
    POINTER("slices", FIELD_OPTIONAL, T, slices, slices),
    MANY("between_models", FIELD_LIST, FIELD_OPTIONAL, T, left_out, left_out_count, left_out),
    POINTER("exposed", FIELD_OPTIONAL, T, vulnerable, vulnerable),
    POINTER("memorisation", FIELD_OPTIONAL, T, memorisation, memorisation),
    MANY("attacks", FIELD_LIST, FIELD_REQUIRED, T, attacks, attack_count, attack),
    MANY("warnings", FIELD_TEXTS, 0, T, warnings, warning_count, NULL),
    POINTER("attribute", FIELD_OPTIONAL, T, attribute, attribute),
    POINTER("encoder_attack", FIELD_OPTIONAL, T, encoder, encoder),
    POINTER("generator", FIELD_OPTIONAL, T, generator, generator),
    END};
#undef T
