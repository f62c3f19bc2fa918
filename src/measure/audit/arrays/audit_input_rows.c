#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/audit.h"

#define OPTIONS_OF struct sotto_audit_input

const struct sotto_option options_audit_input[] = {
    {"member-logits", ARRAY_EITHER(member, "n,classes"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "logits of the members (n, classes)"},
    {"nonmember-logits", ARRAY_EITHER(nonmember, "m,classes"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "logits of the non-members (m, classes)"},
    {"member-probabilities", ARRAY_EITHER(member, "n,classes"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "probabilities of the members, instead of logits (n, classes)"},
    {"nonmember-probabilities", ARRAY_EITHER(nonmember, "m,classes"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "probabilities of the non-members, instead of logits (m, classes)"},
    {"member-labels", ARRAY(member_labels, "n", "i8"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "true classes of the members, from 0 (n)"},
    {"nonmember-labels", ARRAY(nonmember_labels, "m", "i8"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "true classes of the non-members, from 0 (m)"},
    {"member-losses", ARRAY(member_losses, "n", "f8"),
     .group = "Outputs of the target (n members, m non-members)", .help = "losses of the members, nats (n)"},
    {"nonmember-losses", ARRAY(nonmember_losses, "m", "f8"),
     .group = "Outputs of the target (n members, m non-members)",
     .help = "losses of the non-members, nats (m)"},
    {"scores", ARRAY(member_scores, "N", "f8"), .group = "Scores of any tool",
     .help = "scores, higher = more member-like (N)"},
    {"membership", ARRAY(nonmember_scores, "N", "i8"), .group = "Scores of any tool",
     .help = "1 for members, 0 for non-members, one for each score or text (N)"},
    {"member-reference", ARRAY(member_reference, "n,models", "f8"), .group = "Reference models (LiRA, RMIA)",
     .help = "ln(p/(1-p)) of the members' true class under reference models (n, models)"},
    {"nonmember-reference", ARRAY(nonmember_reference, "m,models", "f8"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "ln(p/(1-p)) of the non-members' true class under reference models (m, models)"},
    {"member-reference-losses", ARRAY(member_reference, "n,models", "f8"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "losses of the members under reference models, nats (n, models), instead of --member-reference"},
    {"nonmember-reference-losses", ARRAY(nonmember_reference, "m,models", "f8"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "losses of the non-members under reference models, nats (m, models), instead of "
             "--nonmember-reference"},
    {"member-trained", ARRAY(member_trained, "n,models", "u1"), .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the member (n, models); omit for offline attacks"},
    {"nonmember-trained", ARRAY(nonmember_trained, "m,models", "u1"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the non-member (m, models); omit for offline attacks"},
    {"ref-logits", ARRAY_EITHER(reference_outputs, "models,n + m,classes"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "logits of reference models (models, n + m, classes), members first; they replace "
             "--member-reference and --nonmember-reference, and the target may give probabilities"},
    {"ref-probabilities", ARRAY_EITHER(reference_outputs, "models,n + m,classes"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "probabilities of reference models, instead of logits (models, n + m, classes), members first"},
    {"ref-membership", ARRAY(reference_outputs_trained, "models,n + m", "u1"),
     .group = "Reference models (LiRA, RMIA)",
     .help = "1 where a reference model was trained on the record (models, n + m); omit for offline attacks"},
    {"shadow-logits", ARRAY(shadow, "s,classes", "f8"), .group = "Shadow model (attack network)",
     .help = "logits of a shadow model, training data of the attack network (s, classes)"},
    {"shadow-probabilities", ARRAY(shadow, "s,classes", "f8"), .group = "Shadow model (attack network)",
     .help = "probabilities of the shadow model, instead of logits (s, classes)"},
    {"shadow-labels", ARRAY(shadow_labels, "s", "i8"), .group = "Shadow model (attack network)",
     .help = "true classes of the shadow model's records, from 0 (s)"},
    {"shadow-trained", ARRAY(shadow_trained, "s", "u1"), .group = "Shadow model (attack network)",
     .help = "1 for records that the shadow model was trained on (s)"},
    {"population-logits", ARRAY(population, "z,classes", "f8"),
     .group = "Population (other records, known non-members)",
     .help = "logits of the target on the population (z, classes)"},
    {"population-probabilities", ARRAY(population, "z,classes", "f8"),
     .group = "Population (other records, known non-members)",
     .help = "probabilities of the target on the population, instead of logits (z, classes)"},
    {"population-labels", ARRAY(population_labels, "z", "i8"),
     .group = "Population (other records, known non-members)",
     .help = "true classes of the population, from 0 (z)"},
    {"population-losses", ARRAY(population_losses, "z", "f8"),
     .group = "Population (other records, known non-members)",
     .help = "losses of the target on the population, nats (z), instead of logits"},
    {"population-reference", ARRAY(population_reference, "z,models", "f8"),
     .group = "Population (other records, known non-members)",
     .help =
         "population counterpart of --member-reference or --member-reference-losses (z, models), for RMIA"},
    {"member-views", ARRAY(member_views, "n,views,classes", "f8"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the members (n, views, classes)"},
    {"nonmember-views", ARRAY(nonmember_views, "m,views,classes", "f8"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the non-members (m, views, classes)"},
    {"ref-views", ARRAY_EITHER(reference_views, "models,n + m,views,classes"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help =
         "logits of the reference models on the same views (models, n + m, views, classes), members first"},
    {"population-views", ARRAY(population_views, "z,views,classes", "f8"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the target on views of the population (z, views, classes), for RMIA"},
    {"population-ref-views", ARRAY_EITHER(population_reference_views, "models,z,views,classes"),
     .group = "Views (LiRA and RMIA over several views of each record)",
     .help = "logits of the reference models on the same views (models, z, views, classes)"},
    {"member-dates", ARRAY(member_dates, "n", "f8"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "dates of the members as numbers, such as days or years (n), for a baseline by date alone"},
    {"nonmember-dates", ARRAY(nonmember_dates, "m", "f8"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "dates of the non-members (m)"},
    {"member-features", ARRAY(member_features, "n,features...", "f4"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the members (n, ...)"},
    {"nonmember-features", ARRAY(nonmember_features, "m,features...", "f4"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the non-members (m, ...)"},
    {"population-features", ARRAY(population_features, "z,features...", "f4"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "features of the population (z, ...)"},
    {"released-mean", ARRAY(released_mean, "people,features", "f8"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "released mean of features, to test for membership in it (features), or the people behind it "
             "(people, "
             "features)"},
    {"reference-mean", ARRAY(reference_mean, "outsiders,features", "f8"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "mean of the population's features (features), or the people behind it (outsiders, features), "
             "none of "
             "whom may be a non-member"},
    {"loci", INPUT(reference_mean, "FILE"),
     .group = "Features of the records (tests of distribution shift and of copies)",
     .help = "list by which the genotypes were imported; the two means may then be CSV files with id, allele "
             "and frequency"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_generative_input
#define GENERATIVE "Generative model (samples and --member-features of one kind)"

const struct sotto_option options_generative_input[] = {
    {"generated", ARRAY(generated, "g,features...", "f4"), .group = GENERATIVE,
     .help = "samples of the generator (g, ...)"},
    {"reference-generated", ARRAY(reference_generated, "r,features...", "f4"), .group = GENERATIVE,
     .help = "samples of a generator trained by the same recipe on other records (r, ...), for "
             "gan-leaks-calibrated"},
    {"attacker-features", ARRAY(attacker, "a,features...", "f4"), .group = GENERATIVE,
     .help = "records of the attacker's own that principal components are taken from (a, ...) (default: the "
             "samples)"},
    {"member-discriminator-scores", ARRAY(member_discriminator, "n", "f8"), .group = GENERATIVE,
     .help = "logits of the model's discriminator for the members (n)"},
    {"nonmember-discriminator-scores", ARRAY(nonmember_discriminator, "m", "f8"), .group = GENERATIVE,
     .help = "logits of the model's discriminator for the non-members (m)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_token_input
#define TOKENS "Texts and a language model (N texts of up to T tokens; --membership)"

const struct sotto_option options_token_input[] = {
    {"token-logprobs", ARRAY(logprobs, "N,T", "f4?"), .group = TOKENS,
     .help = "ln p(token | those before it) by the model under attack (N, T), NaN behind a text's end"},
    {"token-lengths", ARRAY(logprobs, "N", "i8"), .group = TOKENS,
     .help = "tokens of each text (N), where no NaN ends the rows"},
    {"token-mean", ARRAY(mean, "N,T", "f4?"), .group = TOKENS,
     .help = "mean of ln p over the vocabulary at each token (N, T), for min-k-plus"},
    {"token-deviation", ARRAY(deviation, "N,T", "f4?"), .group = TOKENS,
     .help = "standard deviation of ln p over the vocabulary at each token (N, T), for min-k-plus"},
    {"reference-token-logprobs", ARRAY(reference, "N,R", "f4?"), .group = TOKENS,
     .help = "ln p of the same texts by a reference model (N, R)"},
    {"lowercase-token-logprobs", ARRAY(lowercase, "N,L", "f4?"), .group = TOKENS,
     .help = "ln p of the texts in lower case by the model under attack (N, L)"},
    {"compressed-bytes", ARRAY(bytes, "N", "f8?"), .group = TOKENS,
     .help = "length of each text as zlib compresses it (N)"},
    {"neighbour-losses", ARRAY(neighbour_losses, "N,neighbours", "f4?"), .group = TOKENS,
     .help = "mean losses of texts that differ in a few words, nats a token (N, neighbours)"},
    OPTIONS_END};

#undef OPTIONS_OF
#define OPTIONS_OF struct sotto_attribute_input
#define ATTRIBUTE "Attribute inference"

const struct sotto_option options_attribute_input[] = {
    {"features", ARRAY(features, "n,inputs...", "f4"), .group = ATTRIBUTE,
     .help = "attacker's view of each record: features, embeddings or model outputs (n, ...)"},
    {"attribute", ARRAY(attribute, "n", "i8"), .group = ATTRIBUTE,
     .help = "hidden attribute of each record, from 0 (n)"},
    {"attribute-labels", ARRAY(labels, "n", "i8"), .group = ATTRIBUTE,
     .help = "task label of each record, for the label-only baseline (n)"},
    {"attribute-outputs", ARRAY(outputs, "n,outputs...", "f4"), .group = ATTRIBUTE,
     .help = "model outputs, for the baseline from output and label (n, ...)"},
    {"attribute-known", ARRAY(known, "n,known...", "f4"), .group = ATTRIBUTE,
     .help = "features known without the model, for the imputation baseline (n, ...)"},
    {"attribute-test-features", ARRAY(features, "t,inputs...", "f4"), .group = ATTRIBUTE,
     .help = "test set for the attack; --features is then all training data (t, ...) (default: random 50/50 "
             "split)"},
    {"attribute-test", ARRAY(attribute, "t", "i8"), .group = ATTRIBUTE,
     .help = "hidden attribute of each record of the test set (t)"},
    {"attribute-test-labels", ARRAY(labels, "t", "i8"), .group = ATTRIBUTE,
     .help = "task label of each record of the test set (t)"},
    {"attribute-depth", COUNT(deepest, "N"), .group = ATTRIBUTE,
     .help =
         "maximum depth of the attack networks: depths 3 to N are reported, N from 3 to 6 (default: depth 3 "
         "only)"},
    OPTIONS_END};
