/* error.h - how texts of errors show members of structs. For the program and the Python package: not installed. */
#ifndef SOTTO_PRIVATE_ERROR_H
#define SOTTO_PRIVATE_ERROR_H

#include "sotto/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How texts show a member of a struct. */
enum sotto_error_style {
    SOTTO_STYLE_MEMBER, /**< dataset_id, of C */
    SOTTO_STYLE_OPTION, /**< --dataset-id, of the program */
    SOTTO_STYLE_KEYWORD /**< dataset=, of the Python package */
};
/** Sets the style of all later texts of the process. The program and the package call it once, at their start. */
SOTTO_API void sotto_error_style(enum sotto_error_style style);

/** The edit distance of two names, at most 99; two letters that changed places are one mistake. */
SOTTO_API size_t sotto_name_distance(const char *a, const char *b);
/** "did you mean", for what no call of the library refuses by itself.
 *  In:  choices  "a, b or c"
 *  Out: out      "; did you mean 'X'?", or "" where no choice is near what was given */
enum { SOTTO_CHOICE_GUESS = 96 };
SOTTO_API void sotto_choice_guess(char out[SOTTO_CHOICE_GUESS], const char *given, const char *choices);

#ifdef __cplusplus
}
#endif
#endif
