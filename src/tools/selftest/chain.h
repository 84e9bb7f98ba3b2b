/* SPDX-License-Identifier: 0BSD */
/* The checks by code of known length. */
#ifndef CHAIN_H
#define CHAIN_H

#include "selftest.h"

enum outcome chain_check(struct selftest *t);
enum outcome chain_instructions(struct selftest *t);

#endif
