/* Embeddings that any program made, for sotto_encoder_attack(). */
#include "audit/arrays/named_arrays.h"
#include "options/option_tables.h"

static const struct arrays_need needs[] = {
    {ARRAYS_TOGETHER, "member-views|member-plain|nonmember-views|nonmember-plain", NULL},
    {ARRAYS_TOGETHER, "shadow-member-views|shadow-member-plain|shadow-nonmember-views|shadow-nonmember-plain",
     NULL},
    {ARRAYS_NEED, "shadow-member-views|bank-plain|shadow-bank-plain", "member-views"},
    {ARRAYS_NEED, "shadow-bank-plain", "bank-plain"},
    {ARRAYS_NEED, "shadow-bank-plain", "shadow-member-views"},
    {ARRAYS_TOGETHER, NULL, NULL}};

sotto_status sotto_arrays_encoder_attack(struct sotto_encoder_attack_input *out, struct sotto_arrays *a,
                                         const struct sotto_context *ctx)
{
    REQUIRE_GIVEN(out, a);
    sotto_status status = SOTTO_OK;
    struct sotto_encoder_attack_input in = {0};
    TRY(arrays_check_needs(a, needs, "attack"));
    if (!arrays_find(a, "member-views"))
        FAIL(SOTTO_EUSAGE, "attack: {member_views} is missing");
    if (arrays_find(a, "shadow-member-views") && arrays_find(a, "bank-plain") &&
        !arrays_find(a, "shadow-bank-plain"))
        FAIL(SOTTO_EUSAGE,
             "attack: with a shadow encoder {bank_plain} and {shadow_bank_plain} must be given together");
    TRY(arrays_take_table(&in, a, options_encoder_attack, "", 0, ctx));
    in.member.n = arrays_size(a, "n", 0), in.nonmember.n = arrays_size(a, "m", 0);
    in.shadow_member.n = arrays_size(a, "s", 0), in.shadow_nonmember.n = arrays_size(a, "t", 0);
    in.bank_n = arrays_size(a, "b", 0), in.views = arrays_size(a, "views", 0);
    in.width = arrays_size(a, "d", 0), in.shadow_width = arrays_size(a, "e", 0);
    *out = in;
done:
    return status;
}
