#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/audit.h"

#define OPTIONS_OF struct sotto_audit_input

const struct sotto_option options_audit_input[] = {
    {"member-logits", INPUT(member_f8, "ARRAY"), .group = "Outputs of the target (n members, m non-members)",
     .help = "logits of the members (n, classes)"},
    {"nonmember-logits", INPUT(nonmember_f8, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "logits of the non-members (m, classes)"},
    {"member-probabilities", INPUT(member_f8, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "probabilities of the members, instead of logits (n, classes)"},
    {"nonmember-probabilities", INPUT(nonmember_f8, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "probabilities of the non-members, instead of logits (m, classes)"},
    {"member-labels", INPUT(member_labels, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "true classes of the members, from 0 (n)"},
    {"nonmember-labels", INPUT(nonmember_labels, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "true classes of the non-members, from 0 (m)"},
    {"member-losses", INPUT(member_losses, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)", .help = "losses of the members, nats (n)"},
    {"nonmember-losses", INPUT(nonmember_losses, "ARRAY"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "losses of the non-members, nats (m)"},
    {"scores", INPUT(member_scores, "ARRAY"), .group = "Scores of any tool",
     .help = "scores, higher = more member-like (n)"},
    {"membership", INPUT(nonmember_scores, "ARRAY"), .group = "Scores of any tool",
     .help = "1 for members, 0 for non-members, one for each score (n)"},
    {"member-reference", INPUT(member_reference, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "ln(p/(1-p)) of the members' true class under reference models (n, models)"},
    {"nonmember-reference", INPUT(nonmember_reference, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "ln(p/(1-p)) of the non-members' true class under reference models (m, models)"},
    {"member-reference-losses", INPUT(member_reference, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "losses of the members under reference models, nats (n, models), instead of --member-reference"},
    {"nonmember-reference-losses", INPUT(nonmember_reference, "ARRAY"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "losses of the non-members under reference models, nats (m, models), instead of "
             "--nonmember-reference"},
    {"member-trained", INPUT(member_trained, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the member (n, models); omit for offline attacks"},
    {"nonmember-trained", INPUT(nonmember_trained, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the non-member (m, models); omit for offline attacks"},
    {"ref-logits", INPUT(reference_outputs, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "logits of reference models (models, n + m, classes), members first; they replace "
             "--member-reference and --nonmember-reference, and the target may give probabilities"},
    {"ref-probabilities", INPUT(reference_outputs, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "probabilities of reference models, instead of logits (models, n + m, classes), members first"},
    {"ref-membership", INPUT(reference_outputs_trained, "ARRAY"), .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the record (models, n + m); omit for offline attacks"},
    {"shadow-logits", INPUT(shadow, "ARRAY"), .group = "Shadow model (attack network)",
     .help = "logits of a shadow model, training data of the attack network (s, classes)"},
    {"shadow-probabilities", INPUT(shadow, "ARRAY"), .group = "Shadow model (attack network)",
     .help = "probabilities of the shadow model, instead of logits (s, classes)"},
    {"shadow-labels", INPUT(shadow_labels, "ARRAY"), .group = "Shadow model (attack network)",
     .help = "true classes of the shadow model's records, from 0 (s)"},
    {"shadow-trained", INPUT(shadow_trained, "ARRAY"), .group = "Shadow model (attack network)",
     .help = "1 for records that the shadow model was trained on (s)"},
    {"population-logits", INPUT(population, "ARRAY"),
     .group = "Population (other records, known non-members)",
     .help = "logits of the target on the population (z, classes)"},
    {"population-probabilities", INPUT(population, "ARRAY"),
     .group = "Population (other records, known non-members)",
     .help = "probabilities of the target on the population, instead of logits (z, classes)"},
    {"population-labels", INPUT(population_labels, "ARRAY"),
     .group = "Population (other records, known non-members)",
     .help = "true classes of the population, from 0 (z)"},
    {"population-losses", INPUT(population_losses, "ARRAY"),
     .group = "Population (other records, known non-members)",
     .help = "losses of the target on the population, nats (z), instead of logits"},
    {"population-reference", INPUT(population_reference, "ARRAY"),
     .group = "Population (other records, known non-members)",
     .help =
         "population counterpart of --member-reference or --member-reference-losses (z, models), for RMIA"},
    {"member-views", INPUT(member_views, "ARRAY"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the members (n, views, classes)"},
    {"nonmember-views", INPUT(nonmember_views, "ARRAY"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the non-members (m, views, classes)"},
    {"ref-views", INPUT(reference_views, "ARRAY"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help =
         "logits of the reference models on the same views (models, n + m, views, classes), members first"},
    {"population-views", INPUT(population_views, "ARRAY"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the population (z, views, classes), for RMIA"},
    {"population-ref-views", INPUT(population_reference_views, "ARRAY"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the reference models on the same views (models, z, views, classes)"},
    {"member-dates", INPUT(member_dates, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "dates of the members as numbers, such as days or years (n), for a baseline by date alone"},
    {"nonmember-dates", INPUT(nonmember_dates, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "dates of the non-members (m)"},
    {"member-features", INPUT(member_features, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the members (n, ...)"},
    {"nonmember-features", INPUT(nonmember_features, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the non-members (m, ...)"},
    {"population-features", INPUT(population_features, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the population (z, ...)"},
    {"released-mean", INPUT(released_mean, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help =
         "released mean of features, to test for membership in it (width), or the people behind it (people, "
         "width)"},
    {"reference-mean", INPUT(reference_mean, "ARRAY"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help =
         "mean of the population's features (width), or the people behind it (people, width), none of whom "
         "may be a non-member"},
    {"loci", INPUT(reference_mean, "FILE"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "list by which the genotypes were imported; the two means may then be CSV files with id, allele "
             "and frequency"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_generative_input
#define GENERATIVE "Generative model (samples and --member-features of one kind)"

const struct sotto_option options_generative_input[] = {
    {"generated", INPUT(generated, "ARRAY"), .group = GENERATIVE,
     .help = "samples of the generator (k, ...)"},
    {"reference-generated", INPUT(reference_generated, "ARRAY"), .group = GENERATIVE,
     .help = "samples of a generator trained by the same recipe on other records (r, ...), for "
             "gan-leaks-calibrated"},
    {"attacker-features", INPUT(attacker, "ARRAY"), .group = GENERATIVE,
     .help = "records of the attacker's own that principal components are taken from (a, ...) (default: the "
             "samples)"},
    {"member-discriminator-scores", INPUT(member_discriminator, "ARRAY"), .group = GENERATIVE,
     .help = "logits of the model's discriminator for the members (n)"},
    {"nonmember-discriminator-scores", INPUT(nonmember_discriminator, "ARRAY"), .group = GENERATIVE,
     .help = "logits of the model's discriminator for the non-members (m)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_token_input
#define TOKENS "Texts and a language model (N texts of up to T tokens; --membership)"

const struct sotto_option options_token_input[] = {
    {"token-logprobs", INPUT(logprobs, "ARRAY"), .group = TOKENS,
     .help = "ln p(token | those before it) by the model under attack (N, T), NaN behind a text's end"},
    {"token-lengths", INPUT(logprobs, "ARRAY"), .group = TOKENS,
     .help = "tokens of each text (N), where no NaN ends the rows"},
    {"token-mean", INPUT(mean, "ARRAY"), .group = TOKENS,
     .help = "mean of ln p over the vocabulary at each token (N, T), for min-k-plus"},
    {"token-deviation", INPUT(deviation, "ARRAY"), .group = TOKENS,
     .help = "standard deviation of ln p over the vocabulary at each token (N, T), for min-k-plus"},
    {"reference-token-logprobs", INPUT(reference, "ARRAY"), .group = TOKENS,
     .help = "ln p of the same texts by a reference model (N, T')"},
    {"lowercase-token-logprobs", INPUT(lowercase, "ARRAY"), .group = TOKENS,
     .help = "ln p of the texts in lower case by the model under attack (N, T')"},
    {"compressed-bytes", INPUT(bytes, "ARRAY"), .group = TOKENS,
     .help = "length of each text as zlib compresses it (N)"},
    {"neighbour-losses", INPUT(neighbour_losses, "ARRAY"), .group = TOKENS,
     .help = "mean losses of texts that differ in a few words, nats a token (N, neighbours)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_attribute_input
#define ATTRIBUTE "Attribute inference"

const struct sotto_option options_attribute_input[] = {
    {"features", INPUT(features, "ARRAY"), .group = ATTRIBUTE,
     .help = "attacker's view of each record: features, embeddings or model outputs (n, ...)"},
    {"attribute", INPUT(attribute, "ARRAY"), .group = ATTRIBUTE,
     .help = "hidden attribute of each record, from 0 (n)"},
    {"attribute-labels", INPUT(labels, "ARRAY"), .group = ATTRIBUTE,
     .help = "task label of each record, for the label-only baseline (n)"},
    {"attribute-outputs", INPUT(outputs, "ARRAY"), .group = ATTRIBUTE,
     .help = "model outputs, for the baseline from output and label (n, ...)"},
    {"attribute-known", INPUT(known, "ARRAY"), .group = ATTRIBUTE,
     .help = "features known without the model, for the imputation baseline (n, ...)"},
    {"attribute-test-features", INPUT(features, "ARRAY"), .group = ATTRIBUTE,
     .help = "test set for the attack; --features is then all training data (t, ...) (default: random 50/50 "
             "split)"},
    {"attribute-test", INPUT(attribute, "ARRAY"), .group = ATTRIBUTE,
     .help = "hidden attribute of each record of the test set (t)"},
    {"attribute-test-labels", INPUT(labels, "ARRAY"), .group = ATTRIBUTE,
     .help = "task label of each record of the test set (t)"},
    {"attribute-depth", COUNT(deepest, "N"), .group = ATTRIBUTE,
     .help =
         "maximum depth of the attack networks: depths 3 to N are reported, N from 3 to 6 (default: depth 3 "
         "only)"},
    OPTIONS_END};
