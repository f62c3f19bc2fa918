/* A record as its "sotto.defend/1" object. */
#include "audit/audit_fields.h"
#include "sotto/lab/defend.h"

#define ESTIMATE(k, flags, type, member) FIELD_PART_OF(k, flags, type, member, audit_estimate_fields)

#define T struct sotto_defence_setting
static const struct field setting[] = {FIELD_TEXT_OF(NULL, T, name), FIELD_REAL_OF(NULL, T, value),
                                       FIELDS_END};
#undef T
#define T struct sotto_defence_input
static const struct field input[] = {FIELD_TEXT_OF("role", T, role),
                                     FIELD_OF("sha256", FIELD_CHARS, 0, T, sha256), FIELDS_END};
#undef T
#define T struct sotto_defence_distortion
static const struct field distortion[] = {FIELD_REAL_OF("expected", T, expected),
                                          FIELD_REAL_OF("largest_expected", T, largest_expected),
                                          FIELD_REAL_OF("mean_l1", T, mean_l1),
                                          FIELD_REAL_OF("largest_l1", T, largest_l1),
                                          FIELD_REAL_OF("mean_l2", T, mean_l2),
                                          FIELD_REAL_OF("largest_l2", T, largest_l2),
                                          FIELD_REAL_OF("largest_linf", T, largest_linf),
                                          FIELD_REAL_OF("changed_rows", T, changed_rows),
                                          FIELDS_END};
#undef T
#define T struct sotto_defence_utility
static const struct field utility[] = {FIELD_REAL_OF("labels_kept", T, labels_kept),
                                       ESTIMATE("accuracy_before", FIELD_NULLABLE, T, accuracy_before),
                                       ESTIMATE("accuracy_after", FIELD_NULLABLE, T, accuracy_after),
                                       FIELDS_END};
#undef T
#define T struct sotto_defence_attacker
static const struct field attacker[] = {FIELD_TEXT_OF("name", T, name),
                                        ESTIMATE("accuracy", FIELD_OPTIONAL, T, accuracy),
                                        ESTIMATE("auc", FIELD_OPTIONAL, T, auc),
                                        ESTIMATE("balanced_accuracy", FIELD_OPTIONAL, T, balanced_accuracy),
                                        ESTIMATE("macro_f1", FIELD_OPTIONAL, T, macro_f1),
                                        FIELDS_END};
#undef T
static const struct field leakage[] = {
    FIELD_MANY_OF("attackers", FIELD_LIST, 0, struct sotto_defence_leakage, attackers, count, attacker),
    FIELDS_END};
#define T struct sotto_defence_result
static const struct field attack[] = {FIELD_TEXT_OF("secret", T, protected_label),
                                      FIELD_COUNT_OF("attacker_rows", T, attacker_rows),
                                      FIELD_PART_OF("before", 0, T, before, leakage),
                                      FIELD_PART_OF("after", 0, T, after, leakage),
                                      FIELD_PART_OF("adaptive", FIELD_OPTIONAL, T, adaptive, leakage),
                                      FIELD_PART_OF("baselines", 0, T, baselines, leakage),
                                      FIELDS_END};
#undef T
#define T struct sotto_defence_record
static const struct field record[] = {
    FIELD_CONSTANT_OF("schema", "sotto.defend/1"),
    FIELD_TEXT_OF("defence", T, defence),
    FIELD_TEXT_OF("title", T, title),
    FIELD_TEXT_OF("source", T, source),
    FIELD_TEXT_OF("statement", T, statement),
    FIELD_REAL_OF("budget", T, budget),
    FIELD_TEXT_OF("budget_unit", T, budget_unit),
    FIELD_MANY_OF("settings", FIELD_MAP, 0, T, settings, setting_count, setting),
    FIELD_OF("seed", FIELD_SEED, 0, T, seed),
    FIELD_COUNT_OF("known", T, known),
    FIELD_COUNT_OF("rows", T, rows),
    FIELD_COUNT_OF("columns", T, columns),
    FIELD_MANY_OF("inputs", FIELD_LIST, 0, T, inputs, input_count, input),
    FIELD_PART_OF("distortion", 0, T, distortion, distortion),
    FIELD_PART_OF("utility", FIELD_NULLABLE, T, utility, utility),
    FIELD_POINTER_OF("attack", 0, T, attack, attack),
    FIELDS_END};
#undef T

sotto_status sotto_defence_encode(char **json, const struct sotto_defence_record *r)
{
    REQUIRE_GIVEN(json, r);
    return fields_dump(json, record, r, JSON_LINE);
}

sotto_status sotto_defence_save_record(const char *path, const struct sotto_defence_record *r)
{
    REQUIRE_GIVEN(path, r);
    return fields_write(path, record, r);
}
