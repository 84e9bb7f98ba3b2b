/* SPDX-License-Identifier: 0BSD */
/* Signal handlers of the application count at any time, and a selection
 * restores handlers, masks and pending signals. */
#include "faults/faults.h"

#include <pthread.h>
#include <sys/time.h>

#define PERIOD_US 50
#define FRESH 50

static double seconds; /* for each of the long scenarios */

static volatile sig_atomic_t calls, back;
static volatile long long outside;  /* the main program's last count */
static volatile long long earliest; /* a handler's first */

static void count_in_handler(int sig)
{
	static long long last;
	long long before = outside, now = cpucycles();

	(void)sig;
	if (now < last || now < before)
		back = 1;
	if (last == 0)
		earliest = now;
	last = now;
	calls = calls + 1;
}

static void every(int period_us)
{
	struct itimerval t = {{0, period_us}, {0, period_us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void set(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa;

	memset(&sa, 0, sizeof sa);
	sa.sa_handler = handler;
	sa.sa_flags = flags;
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(sig, &sa, NULL);
}

static int in_first_call(void *arg)
{
	long long first, started, now;
	int i;

	(void)arg;
	set(SIGALRM, count_in_handler, SA_RESTART);
	every(PERIOD_US);
	first = started = cpucycles();
	for (i = 0; (i < 1000 || calls < 3) && i < 100000000; i++) {
		/* ThreadSanitizer gives signals at the C library's calls. */
		time(NULL);
		now = cpucycles();
		if (now < first)
			return 2;
		first = outside = now;
	}
	every(0);
	/* During the selection there is no counter yet: a handler that ran then
	 * would have got the time. */
	now = earliest - started;
	if (now / 60 > cpucycles_persecond() ||
	    -now / 60 > cpucycles_persecond())
		return 4;
	return calls < 3 || back;
}

static int in_measurements(void *arg)
{
	long long last = cpucycles(), now;
	double end;

	(void)arg;
	set(SIGALRM, count_in_handler, SA_RESTART);
	end = wall_ns() + seconds * 1e9;
	every(PERIOD_US);
	while (wall_ns() < end) {
		now = cpucycles();
		if (now < last)
			return 2;
		last = outside = now;
	}
	every(0);
	return calls < 3 || back;
}

/* The same counter again and again, so that its counts can be compared; 500
 * times, or until a signal has come, as kernels without fine timers send them
 * every 10 ms. */
static int selecting(void *arg)
{
	const char *name = cpucycles_implementation();
	int i, n = 0;

	(void)arg;
	set(SIGALRM, count_in_handler, SA_RESTART);
	every(PERIOD_US);
	for (i = 0; i < 500 || (calls == 0 && i < 1000000); i++)
		n += cpucycles_select(name) != 0;
	every(0);
	return (n != 0 ? 2 : 0) + (back ? 4 : 0) + (calls == 0);
}

static const int faults[] = {SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS, SIGTRAP};
enum { NFAULTS = sizeof faults / sizeof *faults };

static char stack[65536];

static void nothing(int sig)
{
	(void)sig;
	calls = calls + 1;
}

/* The flags that an application can set. */
#define FLAGS \
	(int)(SA_ONSTACK | SA_RESTART | SA_NODEFER | SA_RESETHAND | SA_SIGINFO)

static int restored(void *arg)
{
	struct sigaction now;
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, found;
	int i;

	(void)arg;
	if (sigaltstack(&alternate, NULL) != 0)
		return CANNOT;
	for (i = 0; i < NFAULTS; i++)
		set(faults[i], nothing, SA_ONSTACK | SA_RESTART);
	cpucycles();
	cpucycles_select(NULL);
	cpucycles_observepersecond();
	for (i = 0; i < NFAULTS; i++) {
		sigaction(faults[i], NULL, &now);
		if (now.sa_handler != nothing ||
		    (now.sa_flags & FLAGS) != (SA_ONSTACK | SA_RESTART) ||
		    !sigismember(&now.sa_mask, SIGUSR2) ||
		    sigismember(&now.sa_mask, SIGUSR1))
			return 2;
	}
	sigaltstack(NULL, &found);
	if (found.ss_sp != stack || found.ss_size != sizeof stack)
		return 3;
	for (i = 0; i < NFAULTS; i++)
		raise(faults[i]);
	return calls != NFAULTS;
}

/* Whether a thread's faults arrive on its alternate stack. */
static __thread char *own;
static volatile int stop, elsewhere;
static volatile sig_atomic_t arrived;

static void on_own_stack(int sig)
{
	char here;

	(void)sig;
	if ((size_t)&here - (size_t)own > sizeof stack)
		elsewhere = 1;
	arrived = arrived + 1;
}

static void *faulty(void *arg)
{
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};

	(void)arg;
	own = stack;
	sigaltstack(&alternate, NULL);
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pthread_kill(pthread_self(), SIGSEGV);
	return NULL;
}

static int faults_meanwhile(void *arg)
{
	pthread_t thread;
	int i;

	(void)arg;
	set(SIGSEGV, on_own_stack, SA_ONSTACK);
	if (SANITIZED || pthread_create(&thread, NULL, faulty, NULL) != 0)
		return CANNOT;
	for (i = 0; i < 100 || arrived < 100; i++)
		cpucycles_select(NULL);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return elsewhere;
}

/* All signals blocked, and two of them pending, of which one is a fault's. */
static int all_blocked(void *arg)
{
	sigset_t all, now, pending;
	int sig, bad = 0;

	(void)arg;
	set(SIGUSR1, nothing, 0);
	set(SIGSEGV, nothing, 0);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_sigmask(SIG_BLOCK, NULL, &all);
	raise(SIGUSR1);
	raise(SIGSEGV);
	sigpending(&pending);
	if (!sigismember(&pending, SIGSEGV))
		return CANNOT;
	bad = counts(1000);
	if (calls != 0)
		return 3;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	for (sig = 1; sig < 32; sig++)
		bad |= sigismember(&all, sig) != sigismember(&now, sig);
	sigpending(&pending);
	if (bad || calls != 0 || !sigismember(&pending, SIGUSR1) ||
	    !sigismember(&pending, SIGSEGV))
		return 2;
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	return calls != 2;
}

/* This process sends itself one signal after another: each arrives once. */
static volatile sig_atomic_t wrong;

static void receive(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
#ifdef __linux__
	if (info->si_pid != getpid() ||
	    (info->si_code != SI_USER && info->si_code != SI_TKILL))
		wrong = 1;
#else
	(void)info;
#endif
	arrived = arrived + 1;
}

struct sender {
	pthread_t to;
	int thread_only, sent, lost;
};

static void *sends(void *arg)
{
	const struct timespec nap = {0, 20000};
	struct sender *s = arg;
	sigset_t all;
	int sig, i;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	for (s->sent = 0; s->sent < 240 && s->lost < 20; s->sent++) {
		sig = faults[s->sent % NFAULTS];
		arrived = 0;
		if (s->thread_only || s->sent / NFAULTS % 2)
			pthread_kill(s->to, sig);
		else
			kill(getpid(), sig);
		for (i = 0; arrived == 0 && i < 20000; i++)
			nanosleep(&nap, NULL);
		nanosleep(&nap, NULL);
		s->lost += arrived != 1;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int sent_meanwhile(void *arg)
{
	const char *name = cpucycles_implementation();
	struct sender s = {pthread_self(), in_child(emulated, NULL), 0, 0};
	struct sigaction sa;
	pthread_t thread;
	int i, failed = 0;

	(void)arg;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = receive;
	sa.sa_flags = SA_SIGINFO;
	for (i = 0; i < NFAULTS; i++)
		sigaction(faults[i], &sa, NULL);
	if (SANITIZED || pthread_create(&thread, NULL, sends, &s) != 0)
		return CANNOT;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		failed += cpucycles_select(name) != 0;
	pthread_join(thread, NULL);
	if (s.lost || failed || wrong)
		diag("%d of %d lost, %d selections failed, %d", s.lost, s.sent,
		     failed, (int)wrong);
	return s.lost != 0 || wrong || failed != 0;
}

/* SIGSYS, the one signal that the engine does not block, sent at any time. */
static void ask_in_handler(int sig)
{
	struct cpucycles_counter c;
	int saved = errno;

	(void)sig;
	if (cpucycles_counter(0, &c, sizeof c) != 0 && errno != EDEADLK)
		back = 1;
	if (cpucycles_persecondsource() == NULL)
		back = 1;
	cpucycles();
	errno = saved;
	calls = calls + 1;
}

static void *disturb(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pthread_kill(*(pthread_t *)arg, SIGSYS);
	return NULL;
}

static int disturbed(void *arg)
{
	static const char clock[] = "default-monotonic";
	struct cpucycles_counter c;
	long long hz;
	pthread_t self = pthread_self(), thread;
	double end;
	int i, n = 0;

	(void)arg;
	if (cpucycles_select(clock) != 0)
		return CANNOT;
	hz = cpucycles_persecond();
	cpucycles_counter(0, &c, sizeof c);
	set(SIGSYS, ask_in_handler, 0);
	if (pthread_create(&thread, NULL, disturb, &self) != 0)
		return CANNOT;
	end = wall_ns() + seconds * 1e9;
	for (i = 0; (wall_ns() < end || calls < 1000) && i < 10000000; i++)
		/* ThreadSanitizer may wait for itself in sigaction. */
		n += i % 100 || SANITIZED
			     ? cpucycles_counter(0, &c, sizeof c) != 0
			     : cpucycles_select(clock) != 0;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return n != 0 || back || cpucycles_persecond() != hz;
}

#if defined HAVE_LINUX_FILTER_H && defined __x86_64__
/* A sandbox has a handler that answers in the kernel's place. */
static void answer(int sig, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)sig;
	(void)info;
	c->uc_mcontext.gregs[REG_RAX] = -EPERM;
	if (cpucycles() == 0)
		back = 1;
	calls = calls + 1;
}

static int answered(void *arg)
{
	struct sigaction sa;

	(void)arg;
	memset(&sa, 0, sizeof sa);
	sa.sa_sigaction = answer;
	sa.sa_flags = SA_SIGINFO | SA_NODEFER;
	sigaction(SIGSYS, &sa, NULL);
	if (deny(SYS_rt_sigaction, SECCOMP_RET_TRAP) != 0)
		return CANNOT;
	return counts(1000) != 0 || calls == 0 || back;
}
#else
static int answered(void *arg)
{
	(void)arg;
	return CANNOT;
}
#endif

static int all_fresh(void *arg)
{
	int i, status = 0;

	(void)arg;
	for (i = 0; i < FRESH && status == 0; i++)
		status = in_child(in_first_call, NULL);
	return status == 0 ? 0 : 2;
}

int main(void)
{
	const char *text = getenv("LIVE_SECONDS");

	seconds = text != NULL && atof(text) > 0 ? atof(text) : 0.3;
	point("signals every 50 us whose handler counts, in the first call of "
	      "50 processes",
	      all_fresh, NULL, "");
	point("and through measurements, never back", in_measurements, NULL,
	      "");
	point("and through 500 selections", selecting, NULL, "");
	point("handlers of the fault signals, with their flags, masks and "
	      "stack, are restored",
	      restored, NULL, "no alternate stack");
	point("another thread's faults in selections reach its handler on its "
	      "alternate stack",
	      faults_meanwhile, NULL, "sanitizers have stacks of their own");
	point("fault signals that the process sends in selections arrive, once "
	      "each, and end none",
	      sent_meanwhile, NULL, "sanitizers keep signals back");
	point("with all signals blocked: stays so, and what is pending stays "
	      "pending",
	      all_blocked, NULL, "an emulator keeps no SIGSEGV pending");
	point("SIGSYS is sent all the time, and its handler asks the engine",
	      disturbed, NULL, "no thread");
	point("a handler of SIGSYS that counts and answers a denied sigaction",
	      answered, NULL, "the answer is known for x86-64 alone");
	return done_testing();
}
