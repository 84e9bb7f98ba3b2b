/* SPDX-License-Identifier: 0BSD */
/* probe.c catches every kind of fault of the probed code. Any other signal
 * reaches the application as if nobody probed. */
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

#ifdef __SANITIZE_ADDRESS__
#define ASAN 1
#else
#define ASAN __has_feature(address_sanitizer)
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
 * of SIGSEGV in one of a hundred programs, of any kind, to which another
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

/* A point: whether fn in a child exits with 0, or dies of this signal. */
static void ends(const char *what, void (*fn)(void), int sig)
{
	int status = in_child(fn);

	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("%s: no seccomp filters here", what);
	else
		ok(sig ? killed_by(status, sig) : exited(status),
		   "%s: status %x", what, (unsigned)status);
}

/* Work for a thread of its own, to its end. */
struct work {
	void (*fn)(void *);
	void *arg;
};

static void *works(void *work)
{
	const struct work *w = work;

	w->fn(w->arg);
	return NULL;
}

static void in_thread(void *work)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, works, work))
		pthread_join(thread, NULL);
}

/* The record of the application's handler. */
static struct {
	volatile int calls, sig, self_blocked, mask_blocked, code, value;
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
	seen.value = info->si_value.sival_int;
	seen.address = context ? info->si_addr : NULL;
	on_plain(sig);
}

enum handler { DEFAULT, IGNORED, PLAIN, INFO };

static void set(int sig, enum handler handler, int flags)
{
	struct sigaction sa = {.sa_flags = flags};

	sigemptyset(&sa.sa_mask);
	sigaddset(&sa.sa_mask, SIGUSR1);
	if (handler == INFO) {
		sa.sa_flags |= SA_SIGINFO;
		sa.sa_sigaction = on_info;
	} else {
		sa.sa_handler = handler == PLAIN     ? on_plain
				: handler == IGNORED ? SIG_IGN
						     : SIG_DFL;
	}
	sigaction(sig, &sa, NULL);
}

static void forget(void)
{
	memset(&seen, 0, sizeof seen);
	mprotect((void *)(size_t)page, 1, PROT_NONE);
}

static void all_default(void)
{
	forget();
	for (size_t i = 0; i < COUNT(faults); i++)
		signal(faults[i], SIG_DFL);
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
	int missed = 0;

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
	/* A handler's frame that stayed on the stack would overflow it. */
	for (int i = 0; i < 100000; i++)
		missed += probe(writes, page) != SIGSEGV;
	ok(missed == 0, "100000 of them");
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
			set(faults[i], PLAIN, SA_RESTART);
		else if (i % 3 == 1)
			set(faults[i], INFO, SA_ONSTACK | SA_NODEFER);
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
	ok(SANITIZED_THREADS || (flags[0] == SA_RESTART &&
				 flags[1] == SA_ONSTACK && flags[2] == wanted),
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

static int kept_errno; /* in the thread that faults */

static void faulty(void *arg)
{
	errno = ENOTTY;
	writes((void *)(size_t)page);
	kept_errno = errno;
	(void)arg;
}

static void faults_elsewhere(void *arg)
{
	in_thread(&(struct work){faulty, arg});
}

static char alternate[65536];

static void faulty_on_stack(void *arg)
{
	stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	stack_t off = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	faulty(arg);
	sigaltstack(&off, NULL);
}

static void faults_on_stack(void *arg)
{
	in_thread(&(struct work){faulty_on_stack, arg});
}

static int on_alternate(void)
{
	return (char *)seen.stack >= alternate &&
	       (char *)seen.stack < alternate + sizeof alternate;
}

static void traps_elsewhere(void *arg)
{
	in_thread(&(struct work){traps, arg});
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

/* A signal that is not the probe's own comes in a probe: its source, the
 * disposition for it, and its effect. */
enum effect { NOTHING, CALLED, DIES };

static const struct passed_on {
	const char *what;
	void (*source)(void *sig);
	int sig; /* 0: that of traps() */
	enum handler handler;
	int flags;
	enum effect effect;
} passed_on[] = {
	{"another thread's", faults_elsewhere, SIGSEGV, PLAIN, 0, CALLED},
	{"of SA_NODEFER", faults_elsewhere, SIGSEGV, INFO, SA_NODEFER, CALLED},
	{"of SA_ONSTACK", faults_on_stack, SIGSEGV, INFO, SA_ONSTACK, CALLED},
	{"without it", faults_on_stack, SIGSEGV, INFO, 0, CALLED},
	{"SIG_DFL", faults_elsewhere, SIGSEGV, DEFAULT, 0, DIES},
	{"ignored", faults_elsewhere, SIGSEGV, IGNORED, 0, DIES},
	{"SIG_DFL, a trap", traps_elsewhere, 0, DEFAULT, 0, DIES},
	{"SIG_DFL, a kill", from_outside, SIGFPE, DEFAULT, 0, DIES},
	{"another process's kill", from_outside, SIGILL, INFO, 0, CALLED},
	{"of a plain handler", from_outside, SIGILL, PLAIN, 0, CALLED},
	{"ignored", from_outside, SIGILL, IGNORED, 0, NOTHING},
};

static const struct passed_on *row;

static int row_once(void)
{
	static int sig;

	sig = row->sig ? row->sig : trap_signal;
	forget();
	set(sig, row->handler, row->flags);
	return once(row->source, &sig);
}

static void row_dies(void)
{
	row_once();
}

static int right_call(void)
{
	int fault = row->sig == SIGSEGV;

	return seen.calls == 1 && seen.sig == row->sig &&
	       seen.mask_blocked == 1 &&
	       fault == !pthread_equal(seen.thread, pthread_self()) &&
	       (SANITIZED_THREADS ||
		(seen.self_blocked == !(row->flags & SA_NODEFER) &&
		 on_alternate() == !!(row->flags & SA_ONSTACK))) &&
	       (!fault || kept_errno == ENOTTY) &&
	       (row->handler != INFO ||
		(fault ? seen.address == (void *)(size_t)page
		       : seen.pid != getpid()));
}

static void outside_then_trap(void *arg)
{
	from_outside(arg);
	traps(NULL);
}

static void test_passed_on(void)
{
	static const int sig = SIGILL;
	int got;

	for (row = passed_on; row < passed_on + COUNT(passed_on); row++) {
		if (row->effect == DIES) {
			ends(row->what, row_dies,
			     row->sig ? row->sig : trap_signal);
			continue;
		}
		errno = ENOTTY;
		got = row_once();
		ok(got == 0 && errno == ENOTTY &&
			   (row->effect == CALLED ? right_call()
						  : seen.calls == 0),
		   "%s: handled %d times, caught %d", row->what, seen.calls,
		   got);
	}
	forget();
	set(SIGILL, INFO, 0);
	got = once(outside_then_trap, &sig);
	ok(is_trap(got) && seen.calls == 1, "a fault after it is caught");
	all_default();
}

static void dies_reset(void)
{
	set(SIGSEGV, PLAIN, (int)SA_RESETHAND);
	cpuc_probe_begin();
	probe(faults_elsewhere, NULL);
	if (seen.calls != 1)
		_exit(1);
	forget();
	probe(faults_elsewhere, NULL);
}

static void reset_once(void)
{
	struct sigaction now;

	set(SIGSEGV, PLAIN, (int)SA_RESETHAND);
	once(faults_elsewhere, NULL);
	sigaction(SIGSEGV, NULL, &now);
	_exit(seen.calls != 1 || now.sa_handler != SIG_DFL);
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

static int got_it(const struct sending *s)
{
	return seen.calls == 1 && seen.code == s->code &&
	       seen.pid == getpid() &&
	       (s->code != SI_QUEUE || seen.value == 4711);
}

static void block(int sig, int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	pthread_sigmask(how, &set, NULL);
}

static void test_sent_by(const struct sending *s)
{
	struct message m = {s, 0};
	int bad = 0, late = 0;

	for (size_t i = 0; i < COUNT(faults); i++) {
		m.sig = faults[i];
		set(m.sig, INFO, 0);
		forget();
		bad += once(sends, &m) != 0 || !got_it(s);
		forget();
		block(m.sig, SIG_BLOCK);
		late += once(sends, &m) != 0 || seen.calls != 0;
		block(m.sig, SIG_UNBLOCK);
#ifdef __linux__
		late += !got_it(s);
#else
		late += seen.calls != 1;
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
	forget();
	set(SIGFPE, INFO, 0);
	block(SIGFPE, SIG_BLOCK);
	once(sends_both, NULL);
	block(SIGFPE, SIG_UNBLOCK);
	ok(seen.calls == 2,
	   "blocked: one to the process and one to the thread "
	   "are pending, as without a probe: %d",
	   seen.calls);
}
#endif

static void test_sent(void)
{
	for (size_t i = 0; i < COUNT(sendings); i++)
		if (SANITIZED_THREADS || (emulated && sendings[i].to_process))
			skip("%s: ThreadSanitizer keeps signals back, qemu "
			     "dies of one that is sent to a process",
			     sendings[i].name);
		else
			test_sent_by(&sendings[i]);
#ifdef __linux__
	if (!SANITIZED_THREADS && !emulated)
		test_sent_both();
#endif
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
		set(info.si_signo, INFO, 0);
		forget();
		ok(once(pretends, &info) == 0 && seen.calls == 1 &&
			   seen.code == codes[i].code,
		   "%s is the application's", codes[i].name);
	}
	all_default();
}
#endif

static sigjmp_buf way_out;

static void faults_then_leaves(int sig)
{
	(void)sig;
	if (seen.calls == 2)
		siglongjmp(way_out, 1);
	traps(NULL);
}

/* A fault in the application's handler, called on the probing thread. */
static void faulty_handler(void)
{
	static const int sig = SIGFPE;

	also = faults_then_leaves;
	set(SIGFPE, PLAIN, SA_NODEFER);
	set(trap_signal, PLAIN, SA_NODEFER);
	cpuc_probe_begin();
	if (sigsetjmp(way_out, 1) == 0)
		probe(from_outside, &sig);
	_exit(seen.calls != 2);
}

static void raises_once(int sig)
{
	if (seen.calls == 1)
		raise(sig);
}

/* The application's handler raises the signal while that is blocked. */
static void raising_handler(void)
{
	static const int sig = SIGFPE;

	also = raises_once;
	set(SIGFPE, PLAIN, 0);
	_exit(once(from_outside, &sig) != 0 || seen.calls != 2);
}

static void test_pending(void)
{
	const int sig = trap_signal;
	struct state before, after;
	sigset_t pending;

	forget();
	set(sig, INFO, 0);
	block(sig, SIG_BLOCK);
	look(&before);
	raise(sig);
	ok(once(traps, NULL) == sig,
	   "blocked and pending: the probe's own is caught");
	sigpending(&pending);
	look(&after);
	ok(sigismember(&pending, sig) && seen.calls == 0 &&
		   same(&before, &after),
	   "and the pending one is pending again");
	block(sig, SIG_UNBLOCK);
	ok(seen.calls == 1, "to arrive once when it is unblocked");
	if (!emulated) {
		block(sig, SIG_BLOCK);
		ok(once(from_outside, &sig) == 0 && seen.calls == 1,
		   "blocked: a kill from outside does not arrive in a probe");
		block(sig, SIG_UNBLOCK);
		ok(seen.calls == 2, "but when it is unblocked");
	}
	all_default();
}

static void replaces(void *arg)
{
	set(SIGBUS, PLAIN, 0);
	(void)arg;
}

static struct sigaction chained;

static void on_chain(int sig, siginfo_t *info, void *context)
{
	chained.sa_sigaction(sig, info, context);
}

static void takes_over(void *arg)
{
	struct sigaction sa = {.sa_flags = SA_SIGINFO};

	(void)arg;
	sa.sa_sigaction = on_chain;
	sigaction(SIGILL, &sa, &chained);
}

static void dies_chained(void)
{
	once(takes_over, NULL);
	raise(SIGILL);
}

static void test_replaced(void)
{
	struct sigaction ours, now;

	once(replaces, NULL);
	sigaction(SIGBUS, NULL, &now);
	ok(now.sa_handler == on_plain, "a handler installed meanwhile stays");
	signal(SIGBUS, SIG_DFL);
	cpuc_probe_begin();
	sigaction(SIGBUS, NULL, &ours);
	cpuc_probe_end();
	sigaction(SIGBUS, &ours, NULL);
	ok(once(writes, hole) == SIGBUS, "our handler put back too late:");
	sigaction(SIGBUS, NULL, &now);
	ok(now.sa_handler == SIG_DFL, "the next pair finds the one before");
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
	set(SIGSEGV, INFO, SA_ONSTACK);
	once(writes, page);
	sigaltstack(NULL, &now);
	ok(now.ss_sp == armed.ss_sp && now.ss_flags == armed.ss_flags,
	   "SS_AUTODISARM: the alternate stack is armed after a fault");
	sigaltstack(&old, NULL);
	all_default();
}
#endif

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

static void dies_sys(void)
{
	forbid(SYS_getppid, 0, SECCOMP_RET_TRAP);
	once(in_thread, &(struct work){calls_forbidden, NULL});
}
#endif

/* Checks in a child, which exits with 0 or dies of this signal. */
static const struct child {
	const char *what;
	void (*run)(void);
	int sig;
} children[] = {
	{"SA_RESETHAND: the second fault kills", dies_reset, SIGSEGV},
	{"SA_RESETHAND is SIG_DFL after the end", reset_once, 0},
	{"a handler chains to ours, SIG_DFL behind it", dies_chained, SIGILL},
#if !SANITIZED_THREADS /* which blocks all signals in handlers */
	{"a fault in a handler is its own", faulty_handler, 0},
	{"a handler raises the signal that it blocks", raising_handler, 0},
#endif
#ifdef HAVE_LINUX_FILTER_H
	{"a forbidden system call: SIGSYS", trapped, 0},
	{"another thread's", dies_sys, SIGSYS},
	{"one handler denied: nothing is run", denied, 0},
	{"all of sigaction denied: likewise", denied_all, 0},
#endif
};

static void test_children(void)
{
	for (size_t i = 0; i < COUNT(children); i++)
		ends(children[i].what, children[i].run, children[i].sig);
}

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
	test_passed_on();
	test_sent();
#ifdef SYS_rt_tgsigqueueinfo
	if (!emulated)
		test_codes();
#endif
	test_pending();
	test_replaced();
	test_not_off();
#ifdef __linux__
	test_disarmed();
#endif
	test_fork();
	test_children();
	return done_testing();
}
