/* SPDX-License-Identifier: 0BSD */
/* probe.c catches every kind of fault of the probed code. Any other signal
 * reaches the application as if nobody probed. */
#include <config.h>

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>

/* In place of sigaction(2) in probe.c. */
static int watched(int sig, const struct sigaction *to, struct sigaction *was);
#define sigaction(...) watched(__VA_ARGS__)
#include "../src/system/probe.c"
#undef sigaction
#include "faults/faults.h"
#include "faults/real.h"

static const int sigs[] = {SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGTRAP};
static int trap_signal;     /* of traps() */
static volatile char *page; /* PROT_NONE */
static volatile char *hole; /* mapped past the end of its file */
static int by_qemu;         /* which may die of fault signals that are sent */

static void nothing(void *arg)
{
	(void)arg;
}

/* A breakpoint is a trap after which x86 goes on. */
static void traps(void *arg)
{
	(void)arg;
#if defined __x86_64__ || defined __i386__
	__asm__ volatile("int3");
#else
	real_trap();
#endif
}

static void writes(void *arg)
{
	*(volatile char *)arg = 1;
}

static int probe(void (*fn)(void *), const volatile void *arg)
{
	return cpuc_probe(fn, (void *)(size_t)arg);
}

/* begin, one probe, end. */
static int once(void (*fn)(void *), const volatile void *arg)
{
	int sig;

	cpuc_probe_begin();
	sig = probe(fn, arg);
	cpuc_probe_end();
	return sig;
}

/* A point: whether fn in a child returns 0, or dies of this signal. */
static void ends(const char *what, int (*fn)(void), int sig)
{
	int status = in_child(fn);

	if (status == CANNOT)
		skip("%s: no seccomp filters here", what);
	else
		ok(status == (sig ? KILLED + sig : 0), "%s (%d)", what, status);
}

/* Another thread's work, and what runs it to its end. */
static int (*work)(void);

static void elsewhere(void *arg)
{
	(void)arg;
	in_threads(1, NULL, work);
}

/* The record of the application's handler. */
static struct {
	volatile int calls, sig, self_blocked, mask_blocked, code, values;
	void *volatile stack, *volatile address;
	volatile pid_t pid;
	pthread_t thread;
} seen;

static void (*also)(int sig); /* done by the handler too; NULL: nothing */

static void on_plain(int sig)
{
	sigset_t now;
	int here;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	seen.calls++;
	seen.sig = sig;
	seen.self_blocked = sigismember(&now, sig);
	seen.mask_blocked = sigismember(&now, SIGUSR1);
	seen.stack = &here;
	seen.thread = pthread_self();
	errno = EXDEV;
	if (sig == SIGSEGV)
		mprotect((void *)(size_t)page, 1, PROT_READ | PROT_WRITE);
	if (also)
		also(sig);
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	seen.code = info->si_code;
	seen.pid = info->si_pid;
	seen.values += info->si_value.sival_int;
	seen.address = context ? info->si_addr : NULL;
	on_plain(sig);
}

static void forget(void)
{
	memset(&seen, 0, sizeof seen);
	mprotect((void *)(size_t)page, 1, PROT_NONE);
}

/* A new disposition of the application's; on_info() with SA_SIGINFO. */
static void set(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_flags = flags};

	forget();
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR1);
	if (flags & SA_SIGINFO)
		sa.sa_sigaction = on_info;
	else
		sa.sa_handler = handler;
	sigaction(sig, &sa, NULL);
}

static void all_default(void)
{
	forget();
	for (size_t i = 0; i < COUNT(sigs); i++)
		signal(sigs[i], SIG_DFL);
}

/* The dispositions that a probe replaces, and the mask, for comparing. */
struct state {
	struct {
		void (*handler)(int);
		long flags; /* as wide, so that there is no padding */
		uint64_t mask;
	} of[COUNT(sigs)];
	uint64_t mask;
};

/* Bit i of signal i. The C library has signals of its own above 31. */
static uint64_t bits(const sigset_t *set)
{
	uint64_t all = 0;

	for (int sig = 1; sig < 32; sig++)
		all |= (uint64_t)(sigismember(set, sig) == 1) << sig;
	return all;
}

static void observe(struct state *state)
{
	struct sigaction sa;
	sigset_t blocked;

	memset(state, 0, sizeof *state);
	for (size_t i = 0; i < COUNT(sigs); i++) {
		sigaction(sigs[i], NULL, &sa);
		state->of[i].handler = sa.sa_handler;
		/* One is set by libc, not by the caller. */
		state->of[i].flags = sa.sa_flags & ~0x04000000;
		state->of[i].mask = bits(&sa.sa_mask);
	}
	pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	state->mask = bits(&blocked);
}

static struct state before;

static int unchanged(void)
{
	static struct state now;

	observe(&now);
	return memcmp(&now, &before, sizeof now) == 0;
}

static void test_kinds(void)
{
	cpuc_probe_begin();
	trap_signal = probe(traps, NULL);
	ok(trap_signal == SIGILL || trap_signal == SIGTRAP ||
		   trap_signal == SIGFPE,
	   "trap instruction: %d", trap_signal);
	ok(probe(writes, page) == SIGSEGV, "write to a forbidden page");
	ok(probe(writes, hole) == SIGBUS, "write past the end of a file");
	ok(probe(nothing, NULL) == 0, "a function that returns gives 0");
	cpuc_probe_end();
	ok(cpuc_probe(nothing, NULL) == SIGSYS,
	   "outside of a pair nothing is run");
}

static void enters(void *arg)
{
	struct cpuc_guard guard;

	cpuc_guard_enter(&guard);
	writes(arg);
}

static void test_guard(void)
{
	struct cpuc_guard guard, inner;
	sigset_t blocked;
	bool same;

	observe(&before);
	same = cpuc_guard_enter(&guard);
	pthread_sigmask(SIG_SETMASK, &guard.mask, &blocked);
	same &= !cpuc_guard_enter(&inner) && unchanged();
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	cpuc_guard_leave(&guard);
	for (size_t i = 0; i < COUNT(sigs); i++)
		same &= !sigismember(&blocked, sigs[i]);
	ok(same && sigismember(&blocked, SIGTERM),
	   "in the guard only faults' signals arrive");
	ok(unchanged(), "after it the mask is as before");
	cpuc_probe_begin();
	observe(&before);
	probe(enters, page);
	same = unchanged();
	cpuc_probe_end();
	ok(same, "a fault in the guard: the mask as before");
	ok(!cpuc_guard_inside, "and the thread is outside");
}

static struct state during;

static void looks(void *arg)
{
	(void)arg;
	observe(&during);
}

static void test_restored(void)
{
	sigset_t all, old;
	const int wanted = SA_RESTART | SA_ONSTACK;
	int result, same, flags[3];

	for (size_t i = 0; i < COUNT(sigs); i++)
		if (i % 3 == 0)
			set(sigs[i], on_plain, SA_RESTART);
		else if (i % 3 == 1)
			set(sigs[i], NULL,
			    SA_SIGINFO | SA_ONSTACK | SA_NODEFER);
		else
			signal(sigs[i], i < 4 ? SIG_DFL : SIG_IGN);
	observe(&before);
	once(traps, NULL);
	ok(unchanged(), "dispositions and mask as before");

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	observe(&before);
	result = once(writes, page);
	same = unchanged();
	once(looks, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (int i = 0; i < 3; i++)
		flags[i] = (int)during.of[i].flags & wanted;
	ok(SANITIZED_THREADS || (flags[0] == SA_RESTART &&
				 flags[1] == SA_ONSTACK && flags[2] == wanted),
	   "SA_RESTART and SA_ONSTACK as the handlers had them, or on");
	ok(result == SIGSEGV, "fault caught with all signals blocked");
	ok(same, "and they all are blocked afterwards");
	/* Not all can be blocked, and fewer under an emulator. */
	for (size_t i = 0; i < COUNT(sigs); i++)
		before.mask &= ~(UINT64_C(1) << sigs[i]);
	ok(before.mask == during.mask, "a probe unblocks these six only");
	all_default();
}

static int kept_errno; /* in the thread that faults */

static int faulty(void)
{
	errno = ENOTTY;
	writes((void *)(size_t)page);
	kept_errno = errno;
	return 0;
}

static char alternate[65536];

static int faulty_on_stack(void)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	stack_t off = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	faulty();
	return sigaltstack(&off, NULL);
}

static int trapping(void)
{
	traps(NULL);
	return 0;
}

static int on_alternate(void)
{
	return (char *)seen.stack >= alternate &&
	       (char *)seen.stack < alternate + sizeof alternate;
}

static void raises(void *sig)
{
	raise(*(const int *)sig);
}

/* A signal that is not the probe's own comes in a probe. */
static const struct passed_on {
	const char *what;
	int (*work)(void); /* of another thread; NULL: raises(), pretends() */
	int sig;           /* 0: that of traps() */
	void (*handler)(int);
	int flags;
	int calls; /* of the handler; -1: the process dies */
	int code;  /* to pretend: a number, as C libraries' headers lack some */
} passed_on[] = {
	{"another thread's", faulty, SIGSEGV, on_plain, 0, 1, 0},
	{"of SA_NODEFER", faulty, SIGSEGV, NULL, SA_SIGINFO | SA_NODEFER, 1, 0},
	{"of SA_ONSTACK", faulty_on_stack, SIGSEGV, NULL,
	 SA_SIGINFO | SA_ONSTACK, 1, 0},
	{"without it", faulty_on_stack, SIGSEGV, NULL, SA_SIGINFO, 1, 0},
	{"SIG_DFL", faulty, SIGSEGV, SIG_DFL, 0, -1, 0},
	{"ignored", faulty, SIGSEGV, SIG_IGN, 0, -1, 0},
	{"SIG_DFL, a trap", trapping, 0, SIG_DFL, 0, -1, 0},
	{"SIG_DFL, one that is sent", NULL, SIGFPE, SIG_DFL, 0, -1, 0},
	{"one that is sent", NULL, SIGILL, NULL, SA_SIGINFO, 1, 0},
	{"ignored", NULL, SIGILL, SIG_IGN, 0, 0, 0},
#ifdef SYS_rt_tgsigqueueinfo
	{"SYS_USER_DISPATCH", NULL, SIGSYS, NULL, SA_SIGINFO, 1, 2},
	{"TRAP_PERF", NULL, SIGTRAP, NULL, SA_SIGINFO, 1, 6},
	{"BUS_MCEERR_AO", NULL, SIGBUS, NULL, SA_SIGINFO, 1, 5},
#endif
};

static const struct passed_on *row;

/* Linux lets a process pretend any siginfo to itself. */
static void pretends(void *unused)
{
#ifdef SYS_rt_tgsigqueueinfo
	siginfo_t info = {.si_signo = row->sig, .si_code = row->code};

	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), row->sig,
		&info);
	getppid();
#endif
	(void)unused;
}

static int row_once(void)
{
	static int sig;

	sig = row->sig ? row->sig : trap_signal;
	set(sig, row->handler, row->flags);
	work = row->work;
	if (row->code != 0)
		return once(pretends, NULL);
	return once(work ? elsewhere : raises, &sig);
}

static int right_call(void)
{
	int fault = row->sig == SIGSEGV;

	return seen.calls == 1 && seen.sig == row->sig &&
	       (row->code == 0 || seen.code == row->code) &&
	       seen.mask_blocked == 1 &&
	       fault == !pthread_equal(seen.thread, pthread_self()) &&
	       (SANITIZED_THREADS ||
		(seen.self_blocked == !(row->flags & SA_NODEFER) &&
		 on_alternate() == !!(row->flags & SA_ONSTACK))) &&
	       (!fault || kept_errno == ENOTTY) &&
	       (!fault || !(row->flags & SA_SIGINFO) ||
		seen.address == (void *)(size_t)page);
}

static void raises_then_traps(void *arg)
{
	raises(arg);
	traps(NULL);
}

static void test_passed_on(void)
{
	static const int sig = SIGILL;
	int got;

	for (row = passed_on; row < passed_on + COUNT(passed_on); row++) {
		if (row->calls < 0) {
			ends(row->what, row_once,
			     row->sig ? row->sig : trap_signal);
			continue;
		}
		if (row->code != 0 && by_qemu)
			continue;
		errno = ENOTTY;
		got = row_once();
		ok(got == 0 && errno == ENOTTY &&
			   (row->calls ? right_call() : seen.calls == 0),
		   "%s: handled %d times, caught %d", row->what, seen.calls,
		   got);
	}
	set(SIGILL, NULL, SA_SIGINFO);
	got = once(raises_then_traps, &sig);
	ok(got == trap_signal && seen.calls == 1, "a fault after it is caught");
	all_default();
}

/* Nothing is left of the last pair; in a child, of its parent's. */
static void test_anew(void)
{
	for (int i = 0; i < 2; i++) {
		set(SIGILL, on_plain, (int)SA_RESETHAND);
		once(raises, &sigs[0]);
	}
	ok(seen.calls == 1, "SA_RESETHAND: set again, it is called again");
	set(SIGILL, on_plain, 0);
	faults[0].kept[PROCESS].si_signo = SIGILL;
	once(nothing, NULL);
	ok(seen.calls == 0, "what a parent has kept is not sent again");
	all_default();
}

static int dies_reset(void)
{
	struct sigaction now;

	work = faulty;
	set(SIGSEGV, on_plain, (int)SA_RESETHAND);
	once(elsewhere, NULL);
	sigaction(SIGSEGV, NULL, &now);
	if (seen.calls != 1 || now.sa_handler != SIG_DFL)
		return 1;
	set(SIGSEGV, on_plain, (int)SA_RESETHAND);
	cpuc_probe_begin();
	probe(elsewhere, NULL);
	if (seen.calls != 1)
		return 2;
	forget();
	return probe(elsewhere, NULL);
}

/* This process sends itself signals, in every way. */
struct sending {
	void (*send)(int sig);
	int code, to_process;
	const char *name;
};

static void by_kill(int sig)
{
	kill(getpid(), sig);
}

/* Others lack sigqueue(3), or a code for raise(3). */
#ifdef __linux__
static void by_raise(int sig)
{
	raise(sig);
}

static void by_sigqueue(int sig)
{
	sigqueue(getpid(), sig, (union sigval){.sival_int = 4711});
}
#endif

static const struct sending sendings[] = {
	{by_kill, SI_USER, 1, "kill"},
#ifdef __linux__
	{by_raise, SI_TKILL, 0, "raise"},
	{by_sigqueue, SI_QUEUE, 1, "sigqueue"},
#endif
};

static const struct sending *sending;

static void sends(void *sig)
{
	sending->send(*(const int *)sig);
	for (int i = 0; i < 100; i++)
		getppid(); /* the kernel may choose another moment */
}

static int got_it(void)
{
	return seen.calls == 1 && seen.code == sending->code &&
	       seen.pid == getpid() &&
	       (sending->code != SI_QUEUE || seen.values == 4711);
}

static void block(int sig, int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

#ifdef __linux__
static void sends_more(void *arg)
{
	(void)arg;
	by_kill(SIGFPE);
	by_sigqueue(SIGFPE);
	by_raise(SIGFPE);
	getppid();
}

static void test_sent_more(void)
{
	set(SIGFPE, NULL, SA_SIGINFO);
	block(SIGFPE, SIG_BLOCK);
	once(sends_more, NULL);
	block(SIGFPE, SIG_UNBLOCK);
	ok(seen.calls == 2 && seen.values == 0,
	   "blocked: the first to the process and one to the thread are "
	   "pending, as without a probe: %d, %d",
	   seen.calls, seen.values);
}
#endif

static void test_sending(void)
{
	int bad = 0, late = 0;

	for (size_t i = 0; i < COUNT(sigs); i++) {
		int sig = sigs[i];

		set(sig, NULL, SA_SIGINFO);
		bad += once(sends, &sig) != 0 || !got_it();
		forget();
		block(sig, SIG_BLOCK);
		sending->send(sig);
		late += once(sends, &sig) != 0 || seen.calls != 0;
		block(sig, SIG_UNBLOCK);
		late += !got_it();
	}
	ok(bad == 0, "%s in a probe reaches the handler, with its siginfo: %d",
	   sending->name, bad);
	ok(late == 0,
	   "and if it is blocked, and pending before, once after it: %d", late);
}

static void test_sent(void)
{
	for (sending = sendings; sending < sendings + COUNT(sendings);
	     sending++)
		if (SANITIZED_THREADS || (by_qemu && sending->to_process))
			skip("%s: ThreadSanitizer keeps signals back, qemu "
			     "dies of one that is sent to a process",
			     sending->name);
		else
			test_sending();
#ifdef __linux__
	if (!SANITIZED_THREADS && !by_qemu)
		test_sent_more();
#endif
	all_default();
}

static sigjmp_buf way_out;

static void faults_then_leaves(int sig)
{
	(void)sig;
	if (seen.calls == 2)
		siglongjmp(way_out, 1);
	traps(NULL);
}

/* A fault in the application's handler, called on the probing thread. */
__attribute__((unused)) static int faulty_handler(void)
{
	static const int sig = SIGFPE;

	also = faults_then_leaves;
	set(SIGFPE, on_plain, SA_NODEFER);
	set(trap_signal, on_plain, SA_NODEFER);
	cpuc_probe_begin();
	if (sigsetjmp(way_out, 1) == 0)
		probe(raises, &sig);
	return seen.calls != 2;
}

static int changes;  /* of SIGBUS's disposition */
static bool meddles; /* another thread sets it between a look and a change */
static bool refuses; /* as a sandbox may: it can only be looked at */

static int watched(int sig, const struct sigaction *to, struct sigaction *was)
{
	int err;

	if (refuses && sig == SIGBUS && to != NULL)
		return -1;
	err = sigaction(sig, to, was);
	changes += sig == SIGBUS && to != NULL;
	if (meddles && sig == SIGBUS && to == NULL)
		set(SIGBUS, on_plain, 0);
	return err;
}

static void test_refused(void)
{
	char written = 0;
	int sig;

	observe(&before);
	refuses = true;
	sig = once(writes, &written);
	refuses = false;
	ok(sig == SIGSYS && !written && unchanged(),
	   "one handler denied: nothing is run");
}

/* Whether SIGBUS's disposition is the application's. */
static bool is_plain(void)
{
	struct sigaction now;

	sigaction(SIGBUS, NULL, &now);
	return now.sa_handler == on_plain;
}

static void replaces(void *arg)
{
	set(SIGBUS, on_plain, 0);
	(void)arg;
}

static void test_replaced(void)
{
	struct sigaction ours;

	cpuc_probe_begin();
	probe(replaces, NULL);
	changes = 0;
	cpuc_probe_end();
	ok(is_plain() && changes == 0, "a handler installed meanwhile stays");
	all_default();
	cpuc_probe_begin();
	meddles = true;
	cpuc_probe_end();
	meddles = false;
	ok(is_plain(), "and one installed in the last moment");
	all_default();
	meddles = true;
	cpuc_probe_begin();
	meddles = false;
	cpuc_probe_end();
	ok(is_plain(), "or in the first");
	cpuc_probe_begin();
	sigaction(SIGBUS, NULL, &ours);
	cpuc_probe_end();
	sigaction(SIGBUS, &ours, NULL);
	forget();
	raise(SIGBUS);
	ok(seen.calls == 1, "ours, put back too late, calls the one before");
	ok(once(writes, hole) == SIGBUS, "and catches a fault");
	ok(is_plain(), "the next pair finds the one before");
	all_default();
}

#if defined __linux__
static void test_disarmed(void)
{
	const stack_t armed = {
		.ss_sp = alternate,
		.ss_size = sizeof alternate,
		.ss_flags = (int)(1U << 31), /* SS_AUTODISARM */
	};
	stack_t now = {.ss_flags = SS_DISABLE}, old;

	if (SANITIZED || sigaltstack(&armed, &old)) {
		skip("no SS_AUTODISARM here");
		return;
	}
	set(SIGSEGV, NULL, SA_SIGINFO | SA_ONSTACK);
	once(writes, page);
	sigaltstack(NULL, &now);
	ok(now.ss_sp == armed.ss_sp && now.ss_flags == armed.ss_flags,
	   "SS_AUTODISARM: the alternate stack is armed after a fault");
	sigaltstack(&old, NULL);
	all_default();
}
#endif

static void *holds(void *caught)
{
	cpuc_probe_begin();
	meet(2);
	meet(2);
	*(int *)caught = probe(writes, page);
	cpuc_probe_end();
	return NULL;
}

static int after_fork(void)
{
	int good = cpuc_probe(nothing, NULL) == SIGSYS;

	cpuc_probe_after_fork(false);
	good &= unchanged();
	good &= once(writes, page) == SIGSEGV;
	cpuc_probe_after_fork(false);
	return !good || !unchanged();
}

/* Later a thread has the prober's name. */
static int after_own_fork(void)
{
	cpuc_probe_after_fork(true);
	if (probe(writes, page) != SIGSEGV)
		return 1;
	cpuc_probe_after_fork(false);
	return !unchanged();
}

static void forks(void *status)
{
	*(int *)status = in_child(after_own_fork);
}

static void test_fork(void)
{
	pthread_t thread;
	int caught = 0, status;

	observe(&before);
	if (pthread_create(&thread, NULL, holds, &caught))
		abort();
	meet(2);
	status = in_child(after_fork);
	meet(2);
	pthread_join(thread, NULL);
	ok(status == 0, "fork during another thread's pair (%d)", status);
	ok(caught == SIGSEGV, "that thread goes on in the parent");
	once(forks, &status);
	ok(status == 0, "the prober's own child goes on, too");
}

#ifdef HAVE_LINUX_FILTER_H
static int calls_forbidden(void)
{
	return syscall(SYS_getppid) < 0;
}

static void forbidden(void *unused)
{
	(void)unused;
	calls_forbidden();
}

static int trapped(void)
{
	if (deny(SYS_getppid, SECCOMP_RET_TRAP))
		return CANNOT;
	return once(forbidden, NULL) != SIGSYS;
}

static int dies_sys(void)
{
	if (deny(SYS_getppid, SECCOMP_RET_TRAP))
		return CANNOT;
	work = calls_forbidden;
	return once(elsewhere, NULL);
}
#endif

/* Linux on x86 gives handlers the usual settings of floating point, and the
 * program its own only at the handler's return. On PowerPC, where nothing that
 * is probed faults, it clears them for good. */
static int floating(void)
{
	int bad = 0;
#if defined FE_ALL_EXCEPT && defined FE_UPWARD && !defined __powerpc__
	int flags, settings;

	fesetround(FE_UPWARD);
	feraiseexcept(FE_ALL_EXCEPT);
	flags = fetestexcept(FE_ALL_EXCEPT);
	settings = fegetround();
	if (once(writes, page) != SIGSEGV)
		return 2;
	bad = fetestexcept(FE_ALL_EXCEPT) != flags || fegetround() != settings;
#ifdef __GLIBC__
	feclearexcept(FE_ALL_EXCEPT);
	feenableexcept(FE_ALL_EXCEPT);
	settings = fegetexcept();
	bad |= once(writes, page) != SIGSEGV || fegetexcept() != settings;
#endif
#endif
	return bad;
}

static void test_children(void)
{
	ends("flags, rounding and traps of floating point outlast a fault",
	     floating, 0);
	ends("SA_RESETHAND: SIG_DFL, a second fault kills", dies_reset,
	     SIGSEGV);
#if !SANITIZED_THREADS /* which blocks all signals in handlers */
	ends("a fault in a handler is its own", faulty_handler, 0);
#endif
#ifdef HAVE_LINUX_FILTER_H
	ends("a forbidden system call: SIGSYS", trapped, 0);
	ends("another thread's", dies_sys, SIGSYS);
#endif
}

int main(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	FILE *file = tmpfile();

	patience = 20;
	page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hole = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    file ? fileno(file) : -1, 0);
	if (file)
		fclose(file);
	if (page == MAP_FAILED || hole == MAP_FAILED)
		skip_all("no memory or no temporary file");
	all_default();
	by_qemu = in_child(emulated) != 0;
	test_kinds();
	test_guard();
	test_restored();
	test_passed_on();
	test_anew();
	test_sent();
	test_refused();
	test_replaced();
#ifdef __linux__
	test_disarmed();
#endif
	test_fork();
	test_children();
	return done_testing();
}
