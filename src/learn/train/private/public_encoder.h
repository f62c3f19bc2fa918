/* public_encoder.h - may a private training start from this encoder? Its weights are in the released network as they
 * are, or near to it. Nothing is paid for a public one, so its own records must not be among the private ones (spend_meet_shapings()); one
 * with a certificate has paid, and that adds. */
#ifndef TRAIN_PRIVATE_PUBLIC_ENCODER_H
#define TRAIN_PRIVATE_PUBLIC_ENCODER_H

#include "ssl/encoder.h"
#include "sotto/account.h"

enum { PUBLIC_ENCODER_TEXT = 256 };
struct encoder_standing {
    char statement[PUBLIC_ENCODER_TEXT]; /* for the certificate */
    char moments[PUBLIC_ENCODER_TEXT];   /* the same of the rows that standardise its embeddings, or "" */
    /* A network of private training with a certificate: what it guarantees adds to what is trained from it, as the
     * records may be the same. */
    bool certified;
    double epsilon, delta;
    char condition[PUBLIC_ENCODER_TEXT]; /* certified: for the certificate; else "" */
};
/** In:      path      the encoder's file; beside it, its provenance says which records trained it
 *           moments   file of the rows that standardise its embeddings, with such a provenance; NULL: none
 *           data, rows (n)  the private records
 *           adjacency  of the training
 *           given_by  who states that the encoder is public; NULL: it is not said, but by the encoder itself if it was imported
 *  Returns: EINVAL  private records trained the encoder without protection (its own statement); nothing says which records trained
 *                   it, or which the moments are of, and given_by is NULL; its certificate is missing, does not verify, or is
 *                   for another adjacency
 *           errors of sotto_provenance_load() */
sotto_status encoder_standing_find(struct encoder_standing *out, const struct sotto_encoder *e,
                                   const char *path, const char *moments, const struct sotto_dataset *data,
                                   const int64_t *rows, size_t n, enum sotto_adjacency adjacency,
                                   const char *given_by, const struct sotto_context *ctx);
/** Of a certified one: the sums of both guarantees become its statement. */
void encoder_standing_add(struct encoder_standing *s, const struct sotto_account *own);

#endif
