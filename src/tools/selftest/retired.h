/* SPDX-License-Identifier: 0BSD */
/* The check of cpucycles_instructions(). */
#ifndef RETIRED_H
#define RETIRED_H

#include "selftest.h"

enum outcome retired_check(struct selftest *t);

#endif
