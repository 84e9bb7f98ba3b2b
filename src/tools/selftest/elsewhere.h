/* SPDX-License-Identifier: 0BSD */
/* Checks of the count in other threads, in a child process, on other CPUs. */
#ifndef ELSEWHERE_H
#define ELSEWHERE_H

#include "selftest.h"

enum outcome elsewhere_threads(struct selftest *t);
enum outcome elsewhere_sharing(struct selftest *t);
enum outcome elsewhere_fork(struct selftest *t);
enum outcome elsewhere_migration(struct selftest *t);

#endif
