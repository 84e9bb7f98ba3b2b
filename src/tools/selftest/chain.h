/* SPDX-License-Identifier: 0BSD */
/* The check by instructions of known latency. */
#ifndef CHAIN_H
#define CHAIN_H

#include "selftest.h"

enum outcome chain_check(struct selftest *t);

#endif
