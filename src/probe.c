/* SPDX-License-Identifier: 0BSD */
/* Runs code that may fault, under handlers that pass on whatever is not this
 * code's own fault to the dispositions that were there before. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "probe.h"

static const int faults[] = {SIGILL,  SIGFPE, SIGBUS, SIGSEGV,
			     SIGABRT, SIGSYS, SIGTRAP};
enum { NFAULTS = sizeof faults / sizeof faults[0], ALL = (1 << NFAULTS) - 1 };

struct frame {
	sigjmp_buf env;
	struct frame *outer;
	volatile sig_atomic_t sig; /* what ended it, 0 for nothing */
};

/* The thread between begin and end. Every thread's handler asks who that is,
 * so it is not a TLS variable: glibc may allocate a dlopened library's TLS on
 * its first use in a thread, and in a handler that could deadlock. */
static _Atomic(pthread_t) owner;

/* The rest belongs to the owner, except was, which handlers in other threads
 * read once they see the bit in held, and still after end: a handler may have
 * been entered before end and get to run later. */
static struct frame *volatile innermost;
static sigset_t mask;                  /* the owner's, before begin */
static sigset_t probing;               /* mask without the fault signals */
static volatile int deferred[NFAULTS]; /* 0, or 1 process, 2 thread */
static struct sigaction was[NFAULTS];
static atomic_int spent[NFAULTS];      /* its SA_RESETHAND has happened */
static atomic_int held;                /* bit i: faults[i] is ours */

static int fault_index(int sig)
{
	int i = 0;

	while (i < NFAULTS - 1 && faults[i] != sig)
		i++;
	return i;
}

/* Whether somebody sent it (kill, raise, a timer) and no instruction caused
 * it. These codes are the ones <= 0 on Linux, OpenBSD and Solaris, and those
 * from SI_USER = 0x10001 on where FreeBSD and macOS number them upwards. */
static bool sent(const siginfo_t *info)
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
	if (!sent(info) && sig != SIGTRAP && sig != SIGSYS && sig != SIGABRT)
		return;
	raise(sig);
}

/* What the kernel would have done with the signal if we were not here. */
static void pass_on(int sig, siginfo_t *info, void *context)
{
	int i = fault_index(sig);
	const struct sigaction *to = &was[i];
	sigset_t block, before;

	if (to->sa_handler == SIG_IGN && sent(info))
		return;
	/* The kernel does not let an instruction's fault be ignored. */
	if (to->sa_handler == SIG_IGN || to->sa_handler == SIG_DFL ||
	    ((to->sa_flags & (int)SA_RESETHAND) &&
	     atomic_exchange(&spent[i], 1))) {
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
	 * must arrive while on_fault still keeps the probe out of it. */
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The caller has it blocked, so it must stay pending: end sends it again, to
 * the same target. That si_pid and si_value change is the price of POSIX. */
static void defer(int sig, const siginfo_t *info)
{
	bool process = info->si_code == SI_USER || info->si_code == SI_QUEUE;

	deferred[fault_index(sig)] = process ? 1 : 2;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	int error = errno;
	int open = atomic_load_explicit(&held, memory_order_acquire);
	bool mine = pthread_equal(owner, pthread_self());
	struct frame *frame = mine ? innermost : NULL;

	if (frame && (!sent(info) || info->si_pid == getpid())) {
		frame->sig = sig;
		/* ThreadSanitizer's sigaction is the one that blocks all
		 * signals here whatever was asked for. */
		pthread_sigmask(SIG_SETMASK, &probing, NULL);
		siglongjmp(frame->env, 1);
	}
	/* The application's handler is not what is being probed: a fault in
	 * it must not end the probe and tear the handler down. */
	if (mine)
		innermost = NULL;
	if (mine && open && sent(info) && sigismember(&mask, sig))
		defer(sig, info);
	else
		pass_on(sig, info, context);
	if (mine)
		innermost = frame;
	errno = error;
}

static bool is_ours(const struct sigaction *sa)
{
	return (sa->sa_flags & SA_SIGINFO) && sa->sa_sigaction == on_fault;
}

/* The old disposition is asked for before the new one is set, at the price
 * of a system call: a handler in another thread, or in the child of another
 * thread's fork, must know it from the first moment on. */
static void take(int i)
{
	struct sigaction old, ours = {.sa_sigaction = on_fault};

	if (sigaction(faults[i], NULL, &old))
		return;
	/* Somebody may have found our handler during the last pair and put
	 * it back since; what was there before that one is what counts. */
	if (!is_ours(&old))
		was[i] = old;
	atomic_store(&spent[i], 0);
	deferred[i] = 0;
	/* No mask and SA_NODEFER: a handler that is left by siglongjmp then
	 * has no mask to restore. The rest as it was, so that a handler that
	 * we call interrupts what it would have, where it would have; one
	 * that is not there interrupts nothing. */
	sigemptyset(&ours.sa_mask);
	ours.sa_flags = SA_RESTART | SA_ONSTACK;
	if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
		ours.sa_flags &= old.sa_flags;
	ours.sa_flags |= SA_SIGINFO | SA_NODEFER;
	atomic_fetch_or_explicit(&held, 1 << i, memory_order_release);
	if (sigaction(faults[i], &ours, &old))
		atomic_fetch_and(&held, ~(1 << i));
	else if (!is_ours(&old) && old.sa_sigaction != was[i].sa_sigaction)
		was[i] = old;
}

/* Swaps instead of looking first: a handler that another thread installed
 * meanwhile is then off for a moment, but never lost. */
static void give_back(void)
{
	int open = atomic_load(&held);
	struct sigaction old, now;

	for (int i = 0; i < NFAULTS; i++) {
		if (!(open & 1 << i))
			continue;
		old = was[i];
		if (atomic_load(&spent[i]))
			old.sa_handler = SIG_DFL;
		if (!sigaction(faults[i], &old, &now) && !is_ours(&now))
			sigaction(faults[i], &now, NULL);
	}
	atomic_store(&held, 0);
}

void cpuc_probe_begin(void)
{
	int error = errno, blocked = 0;

	owner = pthread_self();
	innermost = NULL;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	probing = mask;
	for (int i = 0; i < NFAULTS; i++) {
		blocked |= sigismember(&mask, faults[i]);
		sigdelset(&probing, faults[i]);
		take(i);
	}
	/* On its own, when mask is known: signals that were pending come in
	 * here, and are deferred. */
	if (blocked)
		pthread_sigmask(SIG_SETMASK, &probing, NULL);
	errno = error;
}

void cpuc_probe_end(void)
{
	int error = errno;

	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	give_back();
	for (int i = 0; i < NFAULTS; i++) {
		if (deferred[i] == 1)
			kill(getpid(), faults[i]);
		else if (deferred[i] == 2)
			raise(faults[i]);
		deferred[i] = 0;
	}
	errno = error;
}

int cpuc_probe(void (*fn)(void *), void *arg)
{
	struct frame frame = {.outer = innermost};
	int error = errno;

	if (atomic_load(&held) != ALL || !pthread_equal(owner, pthread_self()))
		return SIGSYS;
	if (sigsetjmp(frame.env, 0) == 0) {
		innermost = &frame;
		fn(arg);
	} else {
		errno = error;
	}
	innermost = frame.outer;
	return frame.sig;
}

void cpuc_probe_after_fork(void)
{
	int error = errno;

	/* The owner's own child goes on where the owner is. */
	if (pthread_equal(owner, pthread_self()))
		return;
	innermost = NULL;
	give_back();
	errno = error;
}
