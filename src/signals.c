/* SPDX-License-Identifier: 0BSD */
/* What becomes of a signal that a handler of ours got and does not want. */
#include <config.h>
#include <pthread.h>
#include <signal.h>
#include "signals.h"

/* Whether somebody sent it (kill, raise, a timer) and no instruction caused
 * it. These codes are the ones <= 0 on Linux, OpenBSD and Solaris, and those
 * from SI_USER = 0x10001 on where FreeBSD and macOS number them upwards. */
bool cpuc_signal_sent(const siginfo_t *info)
{
	int code = info->si_code;

	return code <= 0 || (SI_USER > 0 && code >= SI_USER);
}

/* Lets the process die as it would have without us. An instruction that
 * faults again gives the truest core dump; after a trap or a forbidden system
 * call the program would go on instead, so these are raised like those that
 * were sent. SIGABRT is never an instruction's. */
static void take_default(int sig, const siginfo_t *info)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
	if (!cpuc_signal_sent(info) && sig != SIGTRAP && sig != SIGSYS &&
	    sig != SIGABRT)
		return;
	raise(sig);
}

void cpuc_signal_pass_on(const struct sigaction *to, atomic_int *spent,
			 int sig, siginfo_t *info, void *context)
{
	sigset_t block, before;

	if (to->sa_handler == SIG_IGN && cpuc_signal_sent(info))
		return;
	/* The kernel does not let an instruction's fault be ignored. */
	if (to->sa_handler == SIG_IGN || to->sa_handler == SIG_DFL ||
	    ((to->sa_flags & (int)SA_RESETHAND) &&
	     atomic_exchange(spent, 1))) {
		take_default(sig, info);
		return;
	}
	block = to->sa_mask;
	if (!(to->sa_flags & SA_NODEFER))
		sigaddset(&block, sig);
	pthread_sigmask(SIG_BLOCK, &block, &before);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(sig, info, context);
	else
		to->sa_handler(sig);
	/* The kernel would do it at our return, but what became pending here
	 * must arrive while the caller still keeps the probe out of it. */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
