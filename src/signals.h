/* SPDX-License-Identifier: 0BSD */
/* What becomes of a signal that a handler of ours got and does not want. */
#ifndef CPUC_SIGNALS_H
#define CPUC_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Whether somebody sent it, and no instruction caused it. */
bool cpuc_signal_sent(const siginfo_t *info);

/* Does what the kernel would have done with the signal had its disposition
 * been *to; *spent says whether a SA_RESETHAND in that has happened. From a
 * signal handler. */
void cpuc_signal_pass_on(const struct sigaction *to, atomic_int *spent,
			 int sig, siginfo_t *info, void *context);

#endif
