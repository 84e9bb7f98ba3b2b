/* SPDX-License-Identifier: 0BSD */
/* probe.c: every kind of fault, and that whatever is not the probed code's
 * own reaches the application as if nobody probed. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifdef HAVE_LINUX_FILTER_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#endif

#include "../src/system/probe.h"
#include "portable.h"
#include "tap.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
#define TSAN 1
#else
#define TSAN 0
#endif

#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#define ASAN 1
#else
#define ASAN 0
#endif

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const int faults[] = {SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGTRAP};
static int trap_signal;         /* of traps() */
static volatile char *page;     /* PROT_NONE */
static volatile char *hole;     /* mapped past the end of its file */
static volatile int *sent_flag; /* shared with children */
static int emulated; /* by qemu, which may die of fault signals that are sent */

static void nothing(void *arg)
{
	(void)arg;
}

static void traps(void *arg)
{
	(void)arg;
	__builtin_trap();
}

/* PA-RISC has for it an addition that traps on overflow. */
static int is_trap(int sig)
{
	return sig == SIGILL || sig == SIGTRAP || sig == SIGFPE;
}

static void writes(void *arg)
{
	*(volatile char *)arg = 1;
}

#if defined __x86_64__ || defined __i386__
static void divides(void *arg)
{
	int high = 0, low = 1, zero = 0;

	(void)arg;
	__asm__ volatile("idivl %2" : "+a"(low), "+d"(high) : "r"(zero));
}

static void breaks(void *arg)
{
	(void)arg;
	__asm__ volatile("int3");
}
#endif

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

static int killed_by(int status, int sig)
{
	return WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

/* Runs fn in a child that leaves no core; its wait status. QEMU 7.2 itself dies
 * of SIGSEGV in one of a hundred programs, whatever they are, to which another
 * process sends a signal. */
static int in_child(void (*fn)(void))
{
	int status, again = emulated ? 4 : 0;
	pid_t pid;

	do {
		status = -1;
		pid = fork();
		if (pid == 0) {
			struct rlimit none = {0, 0};

			setrlimit(RLIMIT_CORE, &none);
			alarm(20);
			fn();
			_exit(0);
		}
		waitpid(pid, &status, 0);
	} while (killed_by(status, SIGSEGV) && again-- > 0);
	return status;
}

static int exited(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs fn(arg) in a thread of its own, to its end. */
static void in_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, fn, arg))
		pthread_join(thread, NULL);
}

static void set_action(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = {.sa_flags = flags};

	sa.sa_handler = handler;
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(sig, &sa, NULL);
}

static void set_info(int sig, void (*handler)(int, siginfo_t *, void *),
		     int flags)
{
	struct sigaction sa = {.sa_flags = flags | SA_SIGINFO};

	sa.sa_sigaction = handler;
	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR1);
	sigaction(sig, &sa, NULL);
}

static void all_default(void)
{
	for (size_t i = 0; i < COUNT(faults); i++)
		signal(faults[i], SIG_DFL);
}

/* What the application's handler saw. */
static struct {
	volatile int calls, sig, self_blocked, mask_blocked, info_right;
	void *volatile stack;
	volatile pid_t pid;
	pthread_t thread;
} seen;

static void see(int sig)
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
}

static void on_plain(int sig)
{
	see(sig);
	if (sig == SIGSEGV)
		mprotect((void *)(size_t)page, 1, PROT_READ | PROT_WRITE);
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	see(sig);
	seen.pid = info->si_pid;
	seen.info_right = context && info->si_addr == (void *)(size_t)page;
	if (sig == SIGSEGV)
		mprotect((void *)(size_t)page, 1, PROT_READ | PROT_WRITE);
}

static void forget(void)
{
	memset(&seen, 0, sizeof seen);
	mprotect((void *)(size_t)page, 1, PROT_NONE);
}

/* Every disposition and the mask, for comparing. */
struct state {
	struct sigaction sa[65];
	sigset_t mask;
};

static void look(struct state *state)
{
	memset(state, 0, sizeof *state);
	for (int sig = 1; sig <= 64; sig++)
		sigaction(sig, NULL, &state->sa[sig]);
	pthread_sigmask(SIG_BLOCK, NULL, &state->mask);
}

static int same_set(const sigset_t *a, const sigset_t *b)
{
	for (int sig = 1; sig <= 64; sig++)
		if (sigismember(a, sig) != sigismember(b, sig))
			return 0;
	return 1;
}

static int same(const struct state *a, const struct state *b)
{
	const int restorer = 0x04000000; /* set by libc, not by the caller */

	for (int sig = 1; sig <= 64; sig++)
		if (a->sa[sig].sa_handler != b->sa[sig].sa_handler ||
		    (a->sa[sig].sa_flags | restorer) !=
			    (b->sa[sig].sa_flags | restorer) ||
		    !same_set(&a->sa[sig].sa_mask, &b->sa[sig].sa_mask))
			return 0;
	return same_set(&a->mask, &b->mask);
}

static void test_kinds(void)
{
	cpuc_probe_begin();
	ok(probe(nothing, NULL) == 0, "a function that returns gives 0");
	trap_signal = probe(traps, NULL);
	ok(is_trap(trap_signal), "trap instruction: %d", trap_signal);
	ok(probe(writes, page) == SIGSEGV, "write to a forbidden page");
	ok(probe(writes, hole) == SIGBUS, "write past the end of a file");
#if defined __x86_64__ || defined __i386__
	ok(probe(divides, NULL) == SIGFPE, "division by zero");
	ok(probe(breaks, NULL) == SIGTRAP, "breakpoint");
#endif
	ok(probe(nothing, NULL) == 0, "a clean run after them gives 0");
	cpuc_probe_end();
	ok(cpuc_probe(nothing, NULL) == SIGSYS,
	   "outside of a pair nothing is run");
}

static int inner, after_inner;

static void nests(void *arg)
{
	inner = probe(traps, NULL);
	after_inner = 1;
	if (arg)
		*(volatile char *)arg = 1;
}

static void test_nested(void)
{
	cpuc_probe_begin();
	ok(probe(nests, NULL) == 0 && inner && after_inner,
	   "a fault in a nested probe ends that one only");
	ok(probe(nests, page) == SIGSEGV,
	   "a fault after a nested probe ends the outer one");
	cpuc_probe_end();
}

static struct state during;

static void looks(void *arg)
{
	(void)arg;
	look(&during);
}

static void sets_errno(void *arg)
{
	errno = EXDEV;
	traps(arg);
}

static void test_restored(void)
{
	struct state before, after;
	sigset_t all, old;
	const int wanted = SA_RESTART | SA_ONSTACK;
	int result, flags[3];

	for (size_t i = 0; i < COUNT(faults); i++)
		if (i % 3 == 0)
			set_action(faults[i], on_plain, SA_RESTART);
		else if (i % 3 == 1)
			set_info(faults[i], on_info, SA_ONSTACK | SA_NODEFER);
		else
			signal(faults[i], i < 4 ? SIG_DFL : SIG_IGN);
	look(&before);
	errno = ENOTTY;
	once(sets_errno, NULL);
	result = errno;
	look(&after);
	ok(same(&before, &after), "dispositions and mask as before");
	ok(result == ENOTTY, "errno as before: %d", result);

	once(looks, NULL);
	for (int i = 0; i < 3; i++)
		flags[i] = during.sa[faults[i]].sa_flags & wanted;
	ok(TSAN || (flags[0] == SA_RESTART && flags[1] == SA_ONSTACK &&
		    flags[2] == wanted),
	   "SA_RESTART and SA_ONSTACK as the handlers had them, or on");

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	look(&before);
	result = once(writes, page);
	look(&after);
	once(looks, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	/* Not all can be blocked, and fewer under an emulator. */
	all = before.mask;
	for (size_t i = 0; i < COUNT(faults); i++)
		sigdelset(&all, faults[i]);
	for (int sig = 32; sig < FIRST_REALTIME; sig++) /* libc's own */
		sigdelset(&all, sig), sigdelset(&during.mask, sig);
	ok(same_set(&all, &during.mask), "a probe unblocks these six only");
	ok(result == SIGSEGV, "fault caught with all signals blocked");
	ok(same(&before, &after), "and they all are blocked afterwards");
	all_default();
}

static void *faulty(void *arg)
{
	errno = ENOTTY;
	page[0] = 1;
	*(int *)arg = errno;
	return NULL;
}

static void starts_faulty(void *arg)
{
	in_thread(faulty, arg);
}

static char alternate[65536];

static void *faulty_on_stack(void *arg)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	stack_t off = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	faulty(arg);
	sigaltstack(&off, NULL);
	return NULL;
}

static void starts_on_stack(void *arg)
{
	in_thread(faulty_on_stack, arg);
}

static int on_alternate(void)
{
	return (char *)seen.stack >= alternate &&
	       (char *)seen.stack < alternate + sizeof alternate;
}

/* Faults of another thread, while this one probes. */
static void test_other_thread(void)
{
	int error = 0;

	forget();
	set_action(SIGSEGV, on_plain, 0);
	ok(once(starts_faulty, &error) == 0 && seen.calls == 1 &&
		   seen.sig == SIGSEGV,
	   "another thread's fault reaches a plain handler");
	ok(!pthread_equal(seen.thread, pthread_self()), "in that thread");
	ok(seen.self_blocked == 1 && seen.mask_blocked == 1,
	   "with its sa_mask and the signal blocked");
	ok(error == ENOTTY, "that thread's errno is kept");

	forget();
	set_info(SIGSEGV, on_info, SA_NODEFER);
	ok(once(starts_faulty, &error) == 0 && seen.calls == 1 &&
		   seen.info_right,
	   "another thread's fault reaches a handler with its siginfo");
	ok((TSAN || seen.self_blocked == 0) && seen.mask_blocked == 1,
	   "with SA_NODEFER the signal is not blocked");

	forget();
	set_info(SIGSEGV, on_info, SA_ONSTACK);
	ok(once(starts_on_stack, &error) == 0 && seen.calls == 1 &&
		   on_alternate(),
	   "with SA_ONSTACK on the alternate stack");
	forget();
	set_info(SIGSEGV, on_info, 0);
	ok(once(starts_on_stack, &error) == 0 && seen.calls == 1 &&
		   (TSAN || !on_alternate()),
	   "without SA_ONSTACK on the thread's own");
	forget();
	all_default();
}

static void dies_segv(void)
{
	int error = 0;

	all_default();
	once(starts_faulty, &error);
}

static void dies_ignoring(void)
{
	int error = 0;

	signal(SIGSEGV, SIG_IGN);
	once(starts_faulty, &error);
}

static void *trapper(void *arg)
{
	traps(arg);
	return NULL;
}

static void starts_trapper(void *arg)
{
	in_thread(trapper, arg);
}

static void dies_trap(void)
{
	all_default();
	once(starts_trapper, NULL);
}

static void dies_reset(void)
{
	int error = 0;

	set_action(SIGSEGV, on_plain, (int)SA_RESETHAND);
	cpuc_probe_begin();
	probe(starts_faulty, &error);
	if (seen.calls != 1)
		_exit(1);
	forget();
	probe(starts_faulty, &error);
}

static void reset_once(void)
{
	struct sigaction now;
	int error = 0;

	set_action(SIGSEGV, on_plain, (int)SA_RESETHAND);
	once(starts_faulty, &error);
	sigaction(SIGSEGV, NULL, &now);
	_exit(seen.calls != 1 || now.sa_handler != SIG_DFL);
}

/* Has another process send the signal, and waits until it has come in: not
 * in a blocking call or in fork, where ThreadSanitizer would fall over a fault
 * signal. */
static void from_outside(void *arg)
{
	pid_t pid;

	*sent_flag = 0;
	pid = fork();
	if (pid == 0) {
		int failed;

		while (!*sent_flag)
			getppid();
		failed = kill(getppid(), *(const int *)arg);
		*sent_flag = 2;
		_exit(failed != 0);
	}
	*sent_flag = 1;
	while (pid > 0 && *sent_flag == 1)
		getppid(); /* signals come in at its return, if not before */
	getppid();
	waitpid(pid, NULL, 0);
}

static void dies_outside(void)
{
	static const int sig = SIGFPE;

	all_default();
	once(from_outside, &sig);
}

static void test_default(void)
{
	int status;

	status = in_child(dies_segv);
	ok(killed_by(status, SIGSEGV), "SIG_DFL: another thread's fault kills");
	status = in_child(dies_ignoring);
	ok(killed_by(status, SIGSEGV), "SIG_IGN: a fault still kills");
	status = in_child(dies_trap);
	ok(WIFSIGNALED(status) && is_trap(WTERMSIG(status)),
	   "SIG_DFL: another thread's trap kills");
	status = in_child(dies_outside);
	ok(killed_by(status, SIGFPE),
	   "SIG_DFL: another process's kill kills: status %x",
	   (unsigned)status);
	status = in_child(dies_reset);
	ok(killed_by(status, SIGSEGV), "SA_RESETHAND: the second one kills");
	ok(exited(in_child(reset_once)), "and is SIG_DFL after the end");
}

static void outside_then_trap(void *arg)
{
	from_outside(arg);
	traps(NULL);
}

static void test_asynchronous(void)
{
	static const int sig = SIGILL;
	int error = 0;

	forget();
	set_info(SIGILL, on_info, 0);
	errno = ENOTTY;
	cpuc_probe_begin();
	ok(probe(from_outside, &sig) == 0 && seen.calls == 1 &&
		   seen.pid != getpid(),
	   "another process's kill reaches the handler, the probe goes on");
	error = probe(outside_then_trap, &sig);
	ok(is_trap(error), "and a fault after it is still caught: %d", error);
	cpuc_probe_end();
	signal(SIGILL, SIG_IGN);
	ok(once(from_outside, &sig) == 0, "SIG_IGN: ignored");
	all_default();
}

#ifdef HAVE_LINUX_FILTER_H
/* From now on this system call meets the given seccomp action; for sig > 0
 * only when that is its first argument, and the second one is not 0. */
static void forbid(long nr, int sig, unsigned action)
{
	const unsigned low = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
	const unsigned char any = sig ? 0 : 4;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)nr, any, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 16 + low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)sig, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 24 + low),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {COUNT(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(77);
}
#endif

/* What this process sends itself, in every way. */
struct sending {
	void (*send)(int sig);
	int code, to_process;
	const char *name;
};

static void by_kill(int sig)
{
	kill(getpid(), sig);
}

#ifdef SI_TKILL
static void by_raise(int sig)
{
	raise(sig);
}

static void by_pthread_kill(int sig)
{
	pthread_kill(pthread_self(), sig);
}
#endif

#if HAS_SIGQUEUE
static void by_sigqueue(int sig)
{
	sigqueue(getpid(), sig, (union sigval){.sival_int = 4711});
}
#endif

static const struct sending sendings[] = {
	{by_kill, SI_USER, 1, "kill"},
#ifdef SI_TKILL
	{by_raise, SI_TKILL, 0, "raise"},
	{by_pthread_kill, SI_TKILL, 0, "pthread_kill"},
#endif
#if HAS_SIGQUEUE
	{by_sigqueue, SI_QUEUE, 1, "sigqueue"},
#endif
};

struct message {
	const struct sending *sending;
	int sig;
};

static void sends(void *arg)
{
	const struct message *m = arg;

	m->sending->send(m->sig);
	for (int i = 0; i < 100; i++)
		getppid(); /* the kernel may choose another moment */
}

static struct {
	volatile int calls, code, pid, value;
} got;

static void on_sent(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	got.calls++;
	got.code = info->si_code;
	got.pid = info->si_pid;
	got.value = info->si_value.sival_int;
}

static int got_it(const struct sending *s)
{
	return got.calls == 1 && got.code == s->code && got.pid == getpid() &&
	       (s->code != SI_QUEUE || got.value == 4711);
}

static void test_sent_by(const struct sending *s)
{
	struct message m = {s, 0};
	int bad = 0, late = 0;
	sigset_t set, old;

	for (size_t i = 0; i < COUNT(faults); i++) {
		m.sig = faults[i];
		set_info(m.sig, on_sent, 0);
		memset(&got, 0, sizeof got);
		bad += once(sends, &m) != 0 || !got_it(s);
		memset(&got, 0, sizeof got);
		sigemptyset(&set);
		sigaddset(&set, m.sig);
		pthread_sigmask(SIG_BLOCK, &set, &old);
		late += once(sends, &m) != 0 || got.calls != 0;
		pthread_sigmask(SIG_SETMASK, &old, NULL);
#ifdef __linux__
		late += !got_it(s);
#else
		late += got.calls != 1;
#endif
	}
	ok(bad == 0, "%s in a probe reaches the handler, with its siginfo: %d",
	   s->name, bad);
	ok(late == 0, "and if it is blocked, once after it: %d", late);
}

static void filters(void)
{
#ifdef HAVE_LINUX_FILTER_H
	forbid(SYS_getppid, 0, SECCOMP_RET_ERRNO | EPERM);
#endif
}

#ifdef __linux__
/* Two that stay two: one to the process, one to the thread. */
static void sends_both(void *arg)
{
	(void)arg;
	by_kill(SIGFPE);
	by_raise(SIGFPE);
	by_kill(SIGFPE);
	by_raise(SIGFPE);
	getppid();
}

static void test_sent_both(void)
{
	sigset_t set, old;

	memset(&got, 0, sizeof got);
	set_info(SIGFPE, on_sent, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGFPE);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	once(sends_both, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	ok(got.calls == 2,
	   "blocked: one to the process and one to the thread "
	   "are pending, as without a probe: %d",
	   got.calls);
}
#else
static void test_sent_both(void)
{
}
#endif

static void test_sent(void)
{
	if (TSAN) {
		skip("ThreadSanitizer keeps signals back");
		return;
	}
	for (size_t i = 0; i < COUNT(sendings); i++)
		if (!emulated || !sendings[i].to_process)
			test_sent_by(&sendings[i]);
	if (emulated) {
		skip("qemu dies of fault signals that are sent to a process");
		all_default();
		return;
	}
	test_sent_both();
	all_default();
}

#ifdef SYS_rt_tgsigqueueinfo
/* Linux lets a process pretend any siginfo to itself. */
static void pretends(void *arg)
{
	siginfo_t *info = arg;

	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		info->si_signo, info);
	getppid();
}

static void test_codes(void)
{
	/* Numbers, as headers of C libraries lack some. */
	static const struct {
		int sig, code;
		const char *name;
	} codes[] = {
		{SIGSYS, 2, "SYS_USER_DISPATCH"},
		{SIGTRAP, 6, "TRAP_PERF"},
		{SIGBUS, 5, "BUS_MCEERR_AO"},
	};

	for (size_t i = 0; i < COUNT(codes); i++) {
		siginfo_t info = {.si_signo = codes[i].sig};

		info.si_code = codes[i].code;
		set_info(info.si_signo, on_sent, 0);
		memset(&got, 0, sizeof got);
		ok(once(pretends, &info) == 0 && got.calls == 1 &&
			   got.code == codes[i].code,
		   "%s is the application's", codes[i].name);
	}
	all_default();
}
#endif

static sigjmp_buf way_out;

static void on_faulty_handler(int sig)
{
	(void)sig;
	if (++seen.calls == 2)
		siglongjmp(way_out, 1);
	traps(NULL);
}

/* A fault in the application's handler, called on the probing thread. */
static void faulty_handler(void)
{
	static const int sig = SIGFPE;

	forget();
	set_action(SIGFPE, on_faulty_handler, SA_NODEFER);
	set_action(trap_signal, on_faulty_handler, SA_NODEFER);
	cpuc_probe_begin();
	if (sigsetjmp(way_out, 1) == 0)
		probe(from_outside, &sig);
	_exit(seen.calls != 2);
}

static void on_raising(int sig)
{
	if (++seen.calls == 1)
		raise(sig);
}

/* The application's handler raises while that is blocked. */
static void raising_handler(void)
{
	static const int sig = SIGFPE;

	forget();
	set_action(SIGFPE, on_raising, 0);
	_exit(once(from_outside, &sig) != 0 || seen.calls != 2);
}

static void test_handler(void)
{
	int status;

	if (TSAN) {
		skip("ThreadSanitizer blocks all signals in handlers");
		return;
	}
	status = in_child(faulty_handler);
	ok(exited(status),
	   "a fault in the application's handler is its own: status %x",
	   (unsigned)status);
	ok(exited(in_child(raising_handler)),
	   "so is what its handler raises while that is blocked");
}

static void test_pending(void)
{
	const int sig = trap_signal;
	struct state before, after;
	sigset_t set, pending;

	forget();
	set_info(sig, on_info, 0);
	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	look(&before);
	raise(sig);
	ok(once(traps, NULL) == sig,
	   "blocked and pending: the probe's own is caught");
	sigpending(&pending);
	look(&after);
	ok(sigismember(&pending, sig) && seen.calls == 0 &&
		   same(&before, &after),
	   "and the pending one is pending again");
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ok(seen.calls == 1, "to arrive once when it is unblocked");

	if (emulated) {
		skip("another process's kill");
		all_default();
		return;
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	ok(once(from_outside, &sig) == 0 && seen.calls == 1,
	   "blocked: a kill from outside does not arrive in a probe");
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ok(seen.calls == 2, "but when it is unblocked");
	all_default();
}

static void replaces(void *arg)
{
	set_action(SIGBUS, on_plain, 0);
	(void)arg;
}

static struct sigaction chained;

static void on_chain(int sig, siginfo_t *info, void *context)
{
	chained.sa_sigaction(sig, info, context);
}

static void takes_over(void *arg)
{
	sigaction(*(const int *)arg, NULL, &chained);
	set_info(*(const int *)arg, on_chain, 0);
}

static void dies_chained(void)
{
	static const int sig = SIGILL;

	all_default();
	once(takes_over, &sig);
	raise(SIGILL);
}

static void test_replaced(void)
{
	struct sigaction ours, now;

	once(replaces, NULL);
	sigaction(SIGBUS, NULL, &now);
	ok(now.sa_handler == on_plain, "a handler installed meanwhile stays");
	signal(SIGBUS, SIG_DFL);
	ok(killed_by(in_child(dies_chained), SIGILL),
	   "and may chain to ours, with SIG_DFL behind it");

	cpuc_probe_begin();
	sigaction(SIGBUS, NULL, &ours);
	cpuc_probe_end();
	sigaction(SIGBUS, &ours, NULL);
	ok(once(writes, hole) == SIGBUS, "our handler put back too late:");
	sigaction(SIGBUS, NULL, &now);
	ok(now.sa_handler == SIG_DFL, "the next pair finds what was there");
	all_default();
}

static atomic_int off, polling;

static void *polls(void *arg)
{
	struct sigaction now;

	(void)arg;
	polling = 2;
	while (polling) {
		sigaction(SIGBUS, NULL, &now);
		off |= now.sa_handler != on_plain;
	}
	return NULL;
}

static void starts_polling(void *arg)
{
	replaces(NULL);
	polling = 1;
	if (pthread_create(arg, NULL, polls, NULL))
		abort();
	while (polling == 1)
		getppid();
}

/* Nor may a handler that another thread has installed meanwhile be off for a
 * moment: its fault could come just then. */
static void test_not_off(void)
{
	pthread_t thread = pthread_self();

	off = 0;
	for (int i = 0; i < 300; i++) {
		once(starts_polling, &thread);
		polling = 0;
		pthread_join(thread, NULL);
		signal(SIGBUS, SIG_DFL);
	}
	ok(!off, "and is never off");
}

#if defined __linux__
static void test_disarmed(void)
{
	static char stack[65536];
	const stack_t armed = {
		.ss_sp = stack,
		.ss_size = sizeof stack,
		.ss_flags = (int)(1U << 31), /* SS_AUTODISARM */
	};
	stack_t now = {.ss_flags = SS_DISABLE}, old;

	if (ASAN || sigaltstack(&armed, &old)) {
		skip("no SS_AUTODISARM here");
		return;
	}
	set_info(SIGSEGV, on_info, SA_ONSTACK);
	once(writes, page);
	sigaltstack(NULL, &now);
	ok(now.ss_sp == armed.ss_sp && now.ss_flags == armed.ss_flags,
	   "SS_AUTODISARM: the alternate stack is armed after a fault");
	sigaltstack(&old, NULL);
	all_default();
}
#endif

static long pages_used(void)
{
	long size, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void test_many(void)
{
	int missed = 0;
	long before, after;
	double t0, t1, t2;

	once(traps, NULL);
	before = pages_used();
	cpuc_probe_begin();
	for (int i = 0; i < 100000; i++)
		missed += probe(writes, page) != SIGSEGV;
	cpuc_probe_end();
	after = pages_used();
	ok(missed == 0, "100000 faults caught");
	if (ASAN || TSAN)
		skip("the sanitizer's siglongjmp allocates");
	else
		ok(after - before < 64, "memory grew by %ld pages",
		   after - before);

	t0 = now_us();
	for (int i = 0; i < 10000; i++) {
		cpuc_probe_begin();
		cpuc_probe_end();
	}
	t1 = now_us();
	cpuc_probe_begin();
	for (int i = 0; i < 10000; i++)
		probe(nothing, NULL);
	cpuc_probe_end();
	t2 = now_us();
	diag("begin and end: %.2f us; an empty probe: %.4f us",
	     (t1 - t0) / 10000, (t2 - t1) / 10000);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *prober(void *arg)
{
	for (int i = 0; i < 500; i++) {
		pthread_mutex_lock(&lock);
		if (once(writes, page) != SIGSEGV || once(nothing, NULL) != 0)
			++*(int *)arg;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t thread[8];
	int bad[8] = {0}, sum = 0;
	struct state before, after;

	look(&before);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, prober, &bad[i]))
			abort();
	for (int i = 0; i < 8; i++) {
		pthread_join(thread[i], NULL);
		sum += bad[i];
	}
	look(&after);
	ok(sum == 0, "8 threads in turn, 8000 probes");
	ok(same(&before, &after), "dispositions as before");
}

static int to_prober[2], to_main[2];

static void *holds(void *arg)
{
	char c;

	cpuc_probe_begin();
	if (write(to_main[1], "x", 1) != 1 || read(to_prober[0], &c, 1) != 1)
		*(int *)arg = 1;
	if (cpuc_probe(writes, (void *)(size_t)page) != SIGSEGV)
		*(int *)arg = 1;
	cpuc_probe_end();
	return NULL;
}

static struct state before_fork;

static void after_fork(void)
{
	struct state now;

	if (cpuc_probe(nothing, NULL) != SIGSYS)
		_exit(1);
	cpuc_probe_after_fork();
	look(&now);
	if (!same(&before_fork, &now))
		_exit(2);
	if (once(writes, page) != SIGSEGV)
		_exit(3);
	cpuc_probe_after_fork();
	look(&now);
	_exit(same(&before_fork, &now) ? 0 : 4);
}

static void forks(void *arg)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		cpuc_probe_after_fork();
		_exit(probe(writes, page) != SIGSEGV);
	}
	waitpid(pid, &status, 0);
	*(int *)arg = status;
}

static void test_fork(void)
{
	pthread_t thread;
	int bad = 0, status = -1;
	char c;

	look(&before_fork);
	if (pipe(to_prober) || pipe(to_main) ||
	    pthread_create(&thread, NULL, holds, &bad))
		abort();
	bad |= read(to_main[0], &c, 1) != 1;
	status = in_child(after_fork);
	bad |= write(to_prober[1], "x", 1) != 1;
	pthread_join(thread, NULL);
	ok(exited(status), "fork during another thread's pair: status %x",
	   (unsigned)status);
	ok(!bad, "that thread goes on in the parent");
	once(forks, &status);
	ok(exited(status), "the prober's own child goes on, too");
}

#ifdef HAVE_LINUX_FILTER_H
static int ran;

static void runs(void *arg)
{
	(void)arg;
	ran = 1;
}

static void denied(void)
{
	struct state before, after;

	look(&before);
	forbid(SYS_rt_sigaction, SIGBUS, SECCOMP_RET_ERRNO | EPERM);
	if (once(runs, NULL) != SIGSYS || ran)
		_exit(1);
	look(&after);
	_exit(!same(&before, &after));
}

static void denied_all(void)
{
	forbid(SYS_rt_sigaction, 0, SECCOMP_RET_ERRNO | EPERM);
	errno = ENOTTY;
	_exit(once(runs, NULL) != SIGSYS || ran || errno != ENOTTY);
}

static void calls_forbidden(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
}

static void trapped(void)
{
	forbid(SYS_getppid, 0, SECCOMP_RET_TRAP);
	_exit(once(calls_forbidden, NULL) != SIGSYS);
}

static void *forbidden(void *arg)
{
	calls_forbidden(arg);
	return NULL;
}

static void starts_forbidden(void *arg)
{
	in_thread(forbidden, arg);
}

static void dies_sys(void)
{
	all_default();
	forbid(SYS_getppid, 0, SECCOMP_RET_TRAP);
	once(starts_forbidden, NULL);
}

static void test_seccomp(void)
{
	int status = in_child(trapped);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
		skip("no seccomp filters here");
		return;
	}
	ok(exited(status), "a forbidden system call: SIGSYS");
	status = in_child(dies_sys);
	ok(killed_by(status, SIGSYS), "SIG_DFL: another thread's kills");
	status = in_child(denied);
	ok(exited(status), "one handler denied: nothing is run, status %x",
	   (unsigned)status);
	ok(exited(in_child(denied_all)), "all of sigaction denied: likewise");
}
#endif

int main(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	FILE *file = tmpfile();

	page = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	hole = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
		    file ? fileno(file) : -1, 0);
	if (file)
		fclose(file);
	sent_flag = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || hole == MAP_FAILED || sent_flag == MAP_FAILED)
		skip_all("no memory or no temporary file");
	all_default();
	emulated = !exited(in_child(filters));
	test_kinds();
	test_nested();
	test_restored();
	test_other_thread();
	test_default();
	test_asynchronous();
	test_sent();
#ifdef SYS_rt_tgsigqueueinfo
	if (!emulated)
		test_codes();
#endif
	test_handler();
	test_pending();
	test_replaced();
	test_not_off();
#ifdef __linux__
	test_disarmed();
#endif
	test_threads();
	test_fork();
#ifdef HAVE_LINUX_FILTER_H
	test_seccomp();
#endif
	test_many();
	return done_testing();
}
