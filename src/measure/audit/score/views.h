/* views.h - attacks on several views of each record (mirrored, shifted, the record itself): the target and
 * the reference models were asked about the same views in the same order. */
#ifndef AUDIT_SCORE_VIEWS_H
#define AUDIT_SCORE_VIEWS_H

#include "audit/score/lira.h"

/* What an attack on one view sees: its signals and its reference signals, with the records' labels and
 * masks. */
struct attack_input view_input(const struct attack_input *in, size_t view);

/* Carlini et al. 2022, section VI-D: the views' signals as independent Gaussians. online: the mean of the
 * views' log-ratios; offline: the sum of their z-values over sqrt(views), again of unit variance. */
sotto_status view_lira(struct attack_output *out, const struct attack_input *in, bool online,
                       struct lira_settings how);
/* Zarifzadeh, Liu and Shokri 2024: x dominates z if g(x) - g(z) >= ln gamma on more than half of the views;
 * the score is the share of the z that x dominates, ties of it in the order of the mean g(x). The z are the
 * population where it has views too, else the other records; VIEW_OTHERS of them at most, evenly spaced. */
sotto_status view_rmia(struct attack_output *out, const struct attack_input *in, bool offline, double a,
                       double gamma);
enum { VIEW_OTHERS = 20000, VIEW_MOST = 255 };

#endif
