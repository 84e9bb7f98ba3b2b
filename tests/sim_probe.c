/* SPDX-License-Identifier: 0BSD */
/* The probe catches every kind of fault of the probed code. Any other signal
 * reaches the application as if nobody probed. live_first compares handlers. */
#include <config.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include "system/probe.h"
#include "thread/thread.h"
#include "faults/faults.h"

static const int sigs[] = {SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGTRAP};
static int trap_signal;     /* of traps() */
static volatile char *page; /* PROT_NONE */
static volatile char *hole; /* mapped past the end of its file */
static int by_qemu;         /* which may die of fault signals that are sent */

static void nothing(void *arg)
{
	(void)arg;
}

/* Raises SIGILL, SIGTRAP or SIGFPE, by the architecture. */
static void traps(void *arg)
{
	(void)arg;
#if defined __x86_64__ || defined __i386__
	/* A breakpoint, after which it goes on. */
	__asm__ volatile("int3");
#elif defined __s390x__
	/* qemu gives compare-and-trap the si_code of kill(2). */
	__asm__ volatile(".short 0");
#elif defined __sparc__
	/* qemu gives up at the compiler's trap. */
	__asm__ volatile("unimp 0");
#else
	__builtin_trap();
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

/* A point: whether fn in a child dies of this signal. */
static void dies(const char *what, int (*fn)(void), int sig)
{
	int status = in_child(fn);

	ok(status == KILLED + sig, "%s (%d)", what, status);
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
	volatile int calls, self_blocked, mask_blocked, code;
	void *volatile stack, *volatile address;
} seen;

static void on_plain(int sig)
{
	sigset_t now;
	int here;

	pthread_sigmask(SIG_BLOCK, NULL, &now);
	seen.calls++;
	seen.self_blocked = sigismember(&now, sig);
	seen.mask_blocked = sigismember(&now, SIGUSR1);
	seen.stack = &here;
	errno = EXDEV;
	if (sig == SIGSEGV)
		mprotect((void *)(size_t)page, 1, PROT_READ | PROT_WRITE);
}

static void on_info(int sig, siginfo_t *info, void *context)
{
	seen.code = info->si_code;
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

/* Whether SIGBUS's disposition is the application's. */
static bool is_plain(void)
{
	struct sigaction now;

	sigaction(SIGBUS, NULL, &now);
	return now.sa_handler == on_plain;
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

static sigset_t guarded;

static void enters(void *arg)
{
	struct cpuc_guard guard;

	cpuc_guard_enter(&guard);
	pthread_sigmask(SIG_BLOCK, NULL, &guarded);
	writes(arg);
}

/* Blocked, a fault's signal kills. */
static void test_guard(void)
{
	sigset_t now;
	int blocked = 0;

	cpuc_probe_begin();
	probe(enters, page);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	cpuc_probe_end();
	for (size_t i = 0; i < COUNT(sigs); i++)
		blocked += sigismember(&guarded, sigs[i]);
	ok(blocked == 0 && sigismember(&guarded, SIGALRM),
	   "the guard blocks signals, but for those of faults");
	ok(!cpuc_guard_inside && !sigismember(&now, SIGALRM),
	   "a fault in it: the thread is outside, the mask as before");
}

static void test_all_blocked(void)
{
	sigset_t all, old, during;
	int caught;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	cpuc_probe_begin();
	caught = probe(writes, page);
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	cpuc_probe_end();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	ok(caught == SIGSEGV && sigismember(&during, SIGALRM),
	   "fault caught with all signals blocked; others stay so");
}

static int faulty(void)
{
	writes((void *)(size_t)page);
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

#ifdef __linux__
#define SENT_CODE SI_QUEUE
#define send_signal(sig) sigqueue(getpid(), sig, (union sigval){0})
#else
#define SENT_CODE SI_USER
#define send_signal(sig) kill(getpid(), sig)
#endif

/* To the process. */
static void sends(void *sig)
{
	send_signal(*(const int *)sig);
	for (int i = 0; i < 100; i++)
		getppid(); /* the kernel may choose another moment */
}

/* A signal that is not the probe's own comes in a probe. */
struct passed_on {
	const char *what;
	void (*comes)(void *sig);
	int (*work)(void); /* of elsewhere() */
	int sig;           /* 0: that of traps() */
	void (*handler)(int);
	int flags;
	int calls;   /* of the handler; -1: the process dies */
	int blocked; /* and pending before: it comes once, afterwards */
	int code; /* to pretend: a number, as C libraries' headers lack some */
};

static const struct passed_on *row;

/* Linux lets a process pretend any siginfo to itself. */
static void pretends(void *sig)
{
#ifdef SYS_rt_tgsigqueueinfo
	siginfo_t info = {.si_signo = *(int *)sig, .si_code = row->code};

	syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
		info.si_signo, &info);
	getppid();
#endif
	(void)sig;
}

static const struct passed_on passed_on[] = {
	{"another thread's", elsewhere, faulty, SIGSEGV, on_plain, 0, 1, 0, 0},
	{"of SA_NODEFER", elsewhere, faulty, SIGSEGV, NULL,
	 SA_SIGINFO | SA_NODEFER, 1, 0, 0},
	{"of SA_ONSTACK", elsewhere, faulty_on_stack, SIGSEGV, NULL,
	 SA_SIGINFO | SA_ONSTACK, 1, 0, 0},
	{"without it", elsewhere, faulty_on_stack, SIGSEGV, NULL, SA_SIGINFO, 1,
	 0, 0},
	{"SIG_DFL", elsewhere, faulty, SIGSEGV, SIG_DFL, 0, -1, 0, 0},
	{"ignored", elsewhere, faulty, SIGSEGV, SIG_IGN, 0, -1, 0, 0},
	{"SIG_DFL, a trap", elsewhere, trapping, 0, SIG_DFL, 0, -1, 0, 0},
	{"SIG_DFL, one that is sent", raises, NULL, SIGFPE, SIG_DFL, 0, -1, 0,
	 0},
	{"one that is sent", raises, NULL, SIGILL, NULL, SA_SIGINFO, 1, 0, 0},
	{"ignored", raises, NULL, SIGILL, SIG_IGN, 0, 0, 0, 0},
	{"blocked", raises, NULL, SIGSYS, NULL, SA_SIGINFO, 1, 1, 0},
	{"to the process", sends, NULL, SIGTRAP, NULL, SA_SIGINFO, 1, 0, 0},
	{"blocked", sends, NULL, SIGBUS, NULL, SA_SIGINFO, 1, 1, 0},
#ifdef SYS_rt_tgsigqueueinfo
	{"SYS_USER_DISPATCH", pretends, NULL, SIGSYS, NULL, SA_SIGINFO, 1, 0,
	 2},
	{"TRAP_PERF", pretends, NULL, SIGTRAP, NULL, SA_SIGINFO, 1, 0, 6},
	{"BUS_MCEERR_AO", pretends, NULL, SIGBUS, NULL, SA_SIGINFO, 1, 0, 5},
#endif
};

static int row_once(void)
{
	static int sig;
	sigset_t one, old;
	int caught, early;

	sig = row->sig ? row->sig : trap_signal;
	set(sig, row->handler, row->flags);
	work = row->work;
	if (!row->blocked)
		return once(row->comes, &sig);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_BLOCK, &one, &old);
	row->comes(&sig);
	caught = once(row->comes, &sig);
	early = seen.calls;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return caught | early;
}

static int right_call(void)
{
	return seen.calls == 1 && seen.mask_blocked == 1 &&
	       (row->code == 0 || seen.code == row->code) &&
	       (row->comes != sends || seen.code == SENT_CODE) &&
	       (SANITIZED_THREADS ||
		(seen.self_blocked == !(row->flags & SA_NODEFER) &&
		 on_alternate() == !!(row->flags & SA_ONSTACK))) &&
	       (row->work == NULL || !(row->flags & SA_SIGINFO) ||
		seen.address == (void *)(size_t)page);
}

static void raises_then_traps(void *arg)
{
	raises(arg);
	traps(NULL);
}

static void test_passed_on(void)
{
	static const int sig = SIGBUS;
	int got;

	for (row = passed_on; row < passed_on + COUNT(passed_on); row++) {
		if (row->calls < 0) {
			dies(row->what, row_once,
			     row->sig ? row->sig : trap_signal);
			continue;
		}
		if ((SANITIZED_THREADS &&
		     (row->blocked || row->comes == sends)) ||
		    (by_qemu && row->comes != elsewhere &&
		     row->comes != raises)) {
			skip("%s: ThreadSanitizer keeps signals back, qemu "
			     "dies of one that is sent to a process",
			     row->what);
			continue;
		}
		errno = ENOTTY;
		got = row_once();
		ok(got == 0 && (row->blocked || errno == ENOTTY) &&
			   (row->calls ? right_call() : seen.calls == 0),
		   "%s: handled %d times, caught %d", row->what, seen.calls,
		   got);
	}
	set(sig, NULL, SA_SIGINFO);
	got = once(raises_then_traps, &sig);
	ok(got == trap_signal && seen.calls == 1, "a fault after it is caught");
	all_default();
}

static void replaces(void *arg)
{
	set(SIGBUS, on_plain, 0);
	(void)arg;
}

static void test_replaced(void)
{
	struct sigaction ours;

	once(replaces, NULL);
	ok(is_plain(), "a handler installed meanwhile stays");
	cpuc_probe_begin();
	sigaction(SIGBUS, NULL, &ours);
	cpuc_probe_end();
	sigaction(SIGBUS, &ours, NULL);
	raise(SIGBUS);
	ok(seen.calls == 1, "ours, put back too late, calls the one before");
	ok(once(writes, hole) == SIGBUS && is_plain(),
	   "and the next pair catches a fault, and finds the one before");
	all_default();
}

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

	cpuc_probe_after_fork();
	good &= is_plain();
	good &= once(writes, page) == SIGSEGV;
	return !good || !is_plain();
}

static int after_own_fork(void)
{
	cpuc_probe_after_fork();
	return probe(writes, page) != SIGSEGV;
}

static void forks(void *status)
{
	*(int *)status = in_child(after_own_fork);
}

static void test_fork(void)
{
	pthread_t thread;
	int caught = 0, status;

	set(SIGBUS, on_plain, 0);
	if (pthread_create(&thread, NULL, holds, &caught))
		abort();
	meet(2);
	status = in_child(after_fork);
	meet(2);
	pthread_join(thread, NULL);
	ok(status == 0 && caught == SIGSEGV,
	   "fork during another thread's pair (%d), which goes on", status);
	once(forks, &status);
	ok(status == 0, "the prober's own child goes on, too");
	all_default();
}

static int faulty_twice(void)
{
	work = faulty;
	set(SIGSEGV, on_plain, (int)SA_RESETHAND);
	cpuc_probe_begin();
	probe(elsewhere, NULL);
	if (seen.calls != 1)
		return 1;
	forget();
	return probe(elsewhere, NULL);
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
	test_all_blocked();
	test_passed_on();
	test_replaced();
	test_fork();
	dies("SA_RESETHAND: a second fault kills", faulty_twice, SIGSEGV);
	return done_testing();
}
