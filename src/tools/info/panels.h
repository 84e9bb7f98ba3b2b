/* SPDX-License-Identifier: 0BSD */
/* The diagrams of cpucycles-info --svg. */
#ifndef CPUC_TOOLS_PANELS_H
#define CPUC_TOOLS_PANELS_H

#include "calls.h"
#include "picture.h"

/* Each fills the panel, whose place is set, and sets its scales. */
void panel_calls(struct panel *p, const struct calls *c);
void panel_rates(struct panel *p, const struct observed o[OBSERVED]);

#endif
