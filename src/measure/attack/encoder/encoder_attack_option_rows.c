#include "options/option_row.h"
#include "options/option_tables.h"
#include "sotto/lab/audit.h"

#define OPTIONS_OF struct sotto_encoder_attack_input

#define ENCODER_ARRAY(member, axes)                                                                          \
    ARRAY(member, axes, "f4"), .group = "Attack on an encoder (sotto attack encoder)"
#define ENCODER_INPUT(member)                                                                                \
    INPUT(member, "rows.npy"), .group = "Attack on an encoder (sotto attack encoder)"

const struct sotto_option options_encoder_attack[] = {
    {"member-indices", ENCODER_INPUT(member), .help = "rows of --data that trained the model under attack"},
    {"nonmember-indices", ENCODER_INPUT(nonmember), .help = "rows of --data that did not train it"},
    {"shadow-member-indices", ENCODER_INPUT(shadow_member),
     .help = "rows that pre-trained the shadow encoder"},
    {"shadow-nonmember-indices", ENCODER_INPUT(shadow_nonmember),
     .help = "rows that did not pre-train the shadow encoder"},
    {"bank-indices", ENCODER_INPUT(bank),
     .help = "rows in neither training set, used as negatives; without them the contrastive-loss attack is "
             "skipped"},
    {"member-views", ENCODER_ARRAY(member.views, "n,views,d"),
     .help = "embeddings of random views of the members, by any encoder (n, views, d); they replace encoders "
             "and rows, as do the next nine options"},
    {"nonmember-views", ENCODER_ARRAY(nonmember.views, "m,views,d"),
     .help = "those of the non-members (m, views, d)"},
    {"shadow-member-views", ENCODER_ARRAY(shadow_member.views, "s,views,e"),
     .help = "those of the shadow encoder's members, by the shadow encoder (s, views, e)"},
    {"shadow-nonmember-views", ENCODER_ARRAY(shadow_nonmember.views, "t,views,e"),
     .help = "those of its non-members (t, views, e)"},
    {"member-plain", ENCODER_ARRAY(member.plain, "n,d"),
     .help = "embeddings of the members as they are (n, d)"},
    {"nonmember-plain", ENCODER_ARRAY(nonmember.plain, "m,d"), .help = "those of the non-members (m, d)"},
    {"shadow-member-plain", ENCODER_ARRAY(shadow_member.plain, "s,e"),
     .help = "those of the shadow encoder's members (s, e)"},
    {"shadow-nonmember-plain", ENCODER_ARRAY(shadow_nonmember.plain, "t,e"),
     .help = "those of its non-members (t, e)"},
    {"bank-plain", ENCODER_ARRAY(bank, "b,d"),
     .help = "embeddings of records in neither training set, by the encoder (b, d)"},
    {"shadow-bank-plain", ENCODER_ARRAY(shadow_bank, "b,e"),
     .help = "the same records, by the shadow encoder (b, e)"},
    {"temperature", REAL(temperature, "T"), .value = "0.1", .range = "(0,inf)",
     .group = "Attack on an encoder (sotto attack encoder)", .help = "temperature of the contrastive loss"},
    OPTIONS_END};
