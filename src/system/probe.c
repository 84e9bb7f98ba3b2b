/* SPDX-License-Identifier: 0BSD */
/* The handlers pass every signal but the code's own faults on to the
 * disposition that was there before. */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include "context.h"
#include "probe.h"
#include "syscalls.h"
#include "../thread/guard.h"

/* Linux's, for C libraries whose headers lack them. */
#ifdef __linux__
#define PROBE_TRAP_PERF 6
#define PROBE_SECCOMP 1
#define PROBE_AUTODISARM (1U << 31)
#endif

enum target { PROCESS, THREAD };

struct fault {
	int sig;
	atomic_int spent; /* the SA_RESETHAND in `was` has taken effect */
	/* The disposition before ours. Other threads' handlers read it once
	 * they see the bit in `held`, and may do so after cpuc_probe_end. */
	struct sigaction was;
	/* Signals sent meanwhile, to be sent again; si_signo is 0 for none. */
	siginfo_t kept[2];
};

static struct fault faults[] = {
	{.sig = SIGILL},  {.sig = SIGFPE}, {.sig = SIGBUS},
	{.sig = SIGSEGV}, {.sig = SIGSYS}, {.sig = SIGTRAP},
};
enum { NFAULTS = sizeof faults / sizeof faults[0], ALL = (1 << NFAULTS) - 1 };

static atomic_int held; /* bit i: the handler for faults[i] is ours */

/* The thread between begin and end. Not a thread-local flag: glibc may allocate
 * a dlopened library's TLS when a thread first uses it, and in a handler that
 * could deadlock. C99 has no _Atomic. */
__extension__ static _Atomic(pthread_t) owner;

/* What follows belongs to the owner. */
struct frame {
	sigjmp_buf env;
	volatile int sig; /* the signal that ended it, or 0 */
};
static struct frame *volatile probed;
static sigset_t mask;    /* before begin */
static sigset_t probing; /* mask without the fault signals */

/* Whether the signal was sent, and not caused by an instruction. The codes of
 * sent signals are <= 0 on Linux, OpenBSD and Solaris, and start at SI_USER =
 * 0x10001 on FreeBSD and macOS, where 0 may be a fault. */
static bool probe_sent(const siginfo_t *info)
{
	int code = info->si_code;

#ifdef BUS_MCEERR_AO
	/* A memory error that no access has hit yet. */
	if (info->si_signo == SIGBUS && code == BUS_MCEERR_AO)
		return true;
#endif
	return code < 0 || (SI_USER > 0 ? code >= SI_USER : code == 0);
}

/* Whether the running code is at fault. Two signals that it causes are the
 * application's: for a system call that this handles itself
 * (PR_SET_SYSCALL_USER_DISPATCH), and for the overflow of its perf events. */
static bool probe_at_fault(const siginfo_t *info)
{
#ifdef PROBE_SECCOMP
	if (info->si_signo == SIGSYS && info->si_code != PROBE_SECCOMP)
		return false;
#endif
#ifdef PROBE_TRAP_PERF
	if (info->si_signo == SIGTRAP && info->si_code == PROBE_TRAP_PERF)
		return false;
#endif
	return !probe_sent(info);
}

/* Lets the process die as it would without us, best by faulting again; from a
 * trap or forbidden call it would go on, so those signals are raised. */
static void probe_default(int sig, const siginfo_t *info)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};

	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
	if (probe_sent(info) || sig == SIGTRAP || sig == SIGSYS)
		raise(sig);
}

static void probe_pass_on(struct fault *f, siginfo_t *info, void *context)
{
	const struct sigaction *to = &f->was;
	sigset_t self;

	if (to->sa_handler == SIG_IGN && probe_sent(info))
		return;
	/* The kernel does not let a fault be ignored. */
	if (to->sa_handler == SIG_IGN || to->sa_handler == SIG_DFL ||
	    ((to->sa_flags & (int)SA_RESETHAND) &&
	     atomic_exchange(&f->spent, 1))) {
		probe_default(f->sig, info);
		return;
	}
	/* The kernel restores the mask when our handler returns. */
	pthread_sigmask(SIG_BLOCK, &to->sa_mask, NULL);
	sigemptyset(&self);
	sigaddset(&self, f->sig);
	if (to->sa_flags & SA_NODEFER)
		pthread_sigmask(SIG_UNBLOCK, &self, NULL);
	if (to->sa_flags & SA_SIGINFO)
		to->sa_sigaction(f->sig, info, context);
	else
		to->sa_handler(f->sig);
}

/* Keeps the first of each, as the kernel does. siginfo does not tell
 * pthread_sigqueue(3) from sigqueue(3), which is more common. */
static void probe_keep(struct fault *f, const siginfo_t *info)
{
	const int code = info->si_code;
	const bool process = code == SI_USER || code == SI_QUEUE;
	siginfo_t *kept = &f->kept[process ? PROCESS : THREAD];

	if (kept->si_signo == 0)
		*kept = *info;
}

/* On Linux a process may send itself any siginfo, and a thread's id stands for
 * its process; elsewhere the siginfo is a new one. */
static void probe_resend(const siginfo_t *info, enum target target)
{
	const int sig = info->si_signo;

	if (sig == 0)
		return;
#ifdef SYS_rt_tgsigqueueinfo
	const long self = syscall(SYS_gettid);

	if (target == THREAD
		    ? syscall(SYS_rt_tgsigqueueinfo, getpid(), self, sig, info)
		    : syscall(SYS_rt_sigqueueinfo, self, sig, info))
#endif
	{
		if (target == THREAD)
			raise(sig);
		else
			kill(getpid(), sig);
	}
}

/* Jumps back to cpuc_probe(); fn may have changed the mask. */
static CPUC_LANDING void probe_land(void)
{
	cpuc_sys_mask(SIG_SETMASK, &probing, NULL);
	siglongjmp(probed->env, 1);
}

/* After a jump out of the handler, macOS and NetBSD would take the thread to be
 * on its alternate stack for good; Linux would lose one that disarms itself. */
static void probe_leave(void *context)
{
#ifdef CPUC_GO_ON
	CPUC_GO_ON(context, probe_land);
#else
#ifdef PROBE_AUTODISARM
	const stack_t *stack = &((ucontext_t *)context)->uc_stack;

	if ((unsigned)stack->ss_flags & PROBE_AUTODISARM)
		sigaltstack(stack, NULL);
#endif
	(void)context;
	probe_land();
#endif
}

static void probe_on_fault(int sig, siginfo_t *info, void *context)
{
	const int error = errno;
	const int ours = atomic_load_explicit(&held, memory_order_acquire);
	const bool mine = pthread_equal(owner, pthread_self());
	struct frame *frame = mine ? probed : NULL;
	struct fault *f = faults;

	while (f < &faults[NFAULTS - 1] && f->sig != sig)
		f++;
	if (frame && probe_at_fault(info)) {
		frame->sig = sig;
		probe_leave(context);
		return;
	}
	/* A fault in the application's handler does not end the probe. */
	if (mine)
		probed = NULL;
	/* The caller has it blocked: cpuc_probe_end sends it again. */
	if (mine && ours && probe_sent(info) && sigismember(&mask, sig))
		probe_keep(f, info);
	else
		probe_pass_on(f, info, context);
	if (mine)
		probed = frame;
	errno = error;
}

static bool probe_is_ours(const struct sigaction *sa)
{
	return (sa->sa_flags & SA_SIGINFO) &&
	       sa->sa_sigaction == probe_on_fault;
}

/* Two calls, because handlers in other threads, and in children that these
 * fork, need the old disposition from the first moment on. */
static void probe_install(struct fault *f)
{
	const int bit = 1 << (f - faults);
	struct sigaction old, ours = {.sa_sigaction = probe_on_fault};

	if (sigaction(f->sig, NULL, &old))
		return;
	/* Ours, if somebody read it during the last pair and has put it back:
	 * then f->was still is the one before it. */
	if (!probe_is_ours(&old))
		f->was = old;
	atomic_store(&f->spent, 0);
	f->kept[PROCESS].si_signo = f->kept[THREAD].si_signo = 0;
	/* The old handler's flags, so that it interrupts the same system calls
	 * on the same stack; without one, none is interrupted. No SA_NODEFER:
	 * signals sent faster than handled would overflow the stack. */
	sigemptyset(&ours.sa_mask);
	ours.sa_flags = SA_RESTART | SA_ONSTACK;
	if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN)
		ours.sa_flags &= old.sa_flags;
	ours.sa_flags |= SA_SIGINFO;
	/* f->was first, for probe_on_fault() in other threads to acquire. */
	atomic_fetch_or_explicit(&held, bit, memory_order_release);
	if (sigaction(f->sig, &ours, &old))
		atomic_fetch_and(&held, ~bit);
	else if (!probe_is_ours(&old) &&
		 old.sa_sigaction != f->was.sa_sigaction)
		f->was = old;
}

/* Another thread's new handler stays, though it may be off for a moment. */
static void probe_restore(void)
{
	int ours = atomic_load(&held);
	struct sigaction old, now;

	for (int i = 0; i < NFAULTS; i++) {
		if (!(ours & 1 << i) || sigaction(faults[i].sig, NULL, &now) ||
		    !probe_is_ours(&now))
			continue;
		old = faults[i].was;
		if (atomic_load(&faults[i].spent))
			old.sa_handler = SIG_DFL;
		if (!sigaction(faults[i].sig, &old, &now) &&
		    !probe_is_ours(&now))
			sigaction(faults[i].sig, &now, NULL);
	}
	atomic_store(&held, 0);
}

void cpuc_probe_begin(void)
{
	owner = pthread_self();
	probed = NULL;
	cpuc_sys_mask(SIG_BLOCK, NULL, &mask);
	probing = mask;
	for (int i = 0; i < NFAULTS; i++) {
		sigdelset(&probing, faults[i].sig);
		probe_install(&faults[i]);
	}
	/* Pending signals arrive here, and are kept for the end. */
	cpuc_sys_mask(SIG_SETMASK, &probing, NULL);
}

void cpuc_probe_end(void)
{
	cpuc_sys_mask(SIG_SETMASK, &mask, NULL);
	probe_restore();
	for (int i = 0; i < NFAULTS; i++) {
		probe_resend(&faults[i].kept[PROCESS], PROCESS);
		probe_resend(&faults[i].kept[THREAD], THREAD);
	}
}

int cpuc_probe(void (*fn)(void *), void *arg)
{
	struct frame frame = {.sig = 0};
	const bool inside = cpuc_guard_inside;

	if (atomic_load(&held) != ALL || !pthread_equal(owner, pthread_self()))
		return SIGSYS;
	if (sigsetjmp(frame.env, 0) == 0) {
		probed = &frame;
		fn(arg);
	} else {
		cpuc_guard_inside = inside;
	}
	probed = NULL;
	return frame.sig;
}

void cpuc_probe_after_fork(bool inside)
{
	/* In the owner's own child the probe goes on. Names are reused. */
	if (!inside || !pthread_equal(owner, pthread_self())) {
		probed = NULL;
		probe_restore();
	}
}
