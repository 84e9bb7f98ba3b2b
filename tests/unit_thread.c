/* SPDX-License-Identifier: 0BSD */
/* A thread's memory lasts as long as destructors may use it; and the engine's
 * lock, with other threads that act in this one's naps. memory.c, marks.c and
 * lock.c are included, and the system denies them some calls. */
#include <config.h>
#include "tap.h"
#ifdef _WIN32
SKIPPED_MAIN("Windows has threads and a lock of its own")
#else
#include <stdatomic.h>
#include "../src/system/syscalls.h"
#include "faults/faults.h"

static int denied_atfork, denied_value;
static bool denied_zeros;
static size_t asked; /* bytes of zeros, last */
static void (*fork_handler)(void);
static atomic_int unmapped;

static int pretended_atfork(void (*before)(void), void (*parent)(void),
			    void (*child)(void))
{
	(void)before;
	(void)parent;
	fork_handler = child;
	return denied_atfork;
}

/* A macro itself on NetBSD. */
static int pretended_setspecific(pthread_key_t key, const void *value)
{
	return denied_value ? denied_value : pthread_setspecific(key, value);
}

static void *pretended_zeros(size_t size)
{
	asked = size;
	return denied_zeros ? NULL : cpuc_sys_zeros(size);
}

/* As cpuc_sys_sleep() is declared. */
void pretended_sleep(long ns);

/* OpenBSD's header, which may be included twice, then declares these. */
int pretended_wipe(void *p, size_t size, int how);
int pretended_munmap(void *p, size_t size);

int pretended_wipe(void *p, size_t size, int how)
{
	(void)p;
	(void)size;
	(void)how;
	return -1;
}

/* ThreadSanitizer may take the thread for ended, and fault. */
__attribute__((no_sanitize("thread"))) int pretended_munmap(void *p,
							    size_t size)
{
	unmapped++;
	return munmap(p, size);
}

#define madvise pretended_wipe
#define minherit pretended_wipe
#define pthread_atfork pretended_atfork
#undef pthread_setspecific
#define pthread_setspecific pretended_setspecific
#define munmap pretended_munmap
#define cpuc_sys_zeros pretended_zeros
#define cpuc_sys_sleep pretended_sleep
#define cpuc_probe_after_fork pretended_after_fork
#include "../src/thread/marks.c"
#include "../src/thread/memory.c"
#include "../src/thread/lock.c"

/* Atomic for ThreadSanitizer, which takes a thread for ended before. */
static atomic_int rounds, lasts;
static void *_Atomic own;

static void ended(void *memory, bool last)
{
	int *n = memory;

	rounds += memory == own && ++*n == rounds + 1;
	lasts += last;
}

static void *remembers(void *unused)
{
	(void)unused;
	own = cpuc_thread_memory(sizeof(int), ended);
	return own;
}

static void check_memory(void)
{
	pthread_t id;
	void *memory = NULL;
	const int err = cpuc_thread_prepare();

	unmapped = 0;
	if (pthread_create(&id, NULL, remembers, NULL) != 0)
		skip_all("no thread");
	pthread_join(id, &memory);
	ok(err == 0 && memory != NULL && rounds == 4 && lasts == 1 &&
		   unmapped == 1 &&
		   asked >= sizeof(struct memory) + sizeof(int),
	   "a thread's destructor is called in %d rounds, %d is the last, then "
	   "it is unmapped",
	   atomic_load(&rounds), atomic_load(&lasts));
	denied_value = EAGAIN;
	ok(remembers(NULL) == NULL && unmapped == 2,
	   "at once, if there is no destructor");
	denied_zeros = true;
	ok(remembers(NULL) == NULL && unmapped == 2,
	   "nor is any without zeros");
	denied_zeros = false;
}

/* Linux before 4.14, and macOS. */
static void check_fork_handler(void)
{
	const uint32_t *mark;

	denied_zeros = true;
	ok(cpuc_process_prepare() == -ENOMEM && unmapped == 0,
	   "without memory there are no marks");
	denied_zeros = false;
	denied_atfork = ENOMEM;
	ok(cpuc_process_prepare() == -ENOMEM && unmapped == 1,
	   "nothing stays mapped that no child would wipe");
	denied_atfork = 0;
	ok(cpuc_process_prepare() == 0 && unmapped == 1,
	   "it stays with a handler of forks");
	mark = cpuc_process_mark();
	fork_handler();
	ok(*mark == 0 && cpuc_process_mark() != mark,
	   "which wipes the mark, and the child has its own");
}

/* How often this thread slept, and what others do then. */
static int naps;
static void (*in_nap)(void);
static bool told; /* that somebody waits */
static int taken_over;
static bool by_holder; /* that is, in a child of its own */

void pretended_sleep(long ns)
{
	(void)ns;
	naps++;
	if (in_nap != NULL)
		in_nap();
	if (naps > 100)
		exit(!ok(0, "a thread waits for ever"));
}

void pretended_after_fork(bool inside)
{
	taken_over++;
	by_holder = inside;
}

static void lock_once(void)
{
	struct cpuc_caller caller;

	cpuc_lock(&caller);
	cpuc_unlock(&caller);
}

/* Another thread takes the lock in the first nap, and is done in the third. */
static void other_in_turn(void)
{
	if (naps == 1) {
		lock_holder = lock_process((int)getpid());
		lock_wanted = false;
	} else if (naps == 3) {
		told = lock_wanted;
		lock_holder |= LOCK_FREE;
	}
}

static void check_waiting(void)
{
	lock_once();
	ok(naps == 0, "nobody else wants it: taken at once");
	lock_wanted = true;
	in_nap = other_in_turn;
	lock_once();
	ok(naps == 3 && told && !lock_wanted,
	   "another waits: it gets the lock first, and for as long as it is "
	   "needed (%d naps)",
	   naps);
	naps = taken_over = 0;
	in_nap = NULL;
	lock_wanted = true;
	lock_once();
	lock_once();
	ok(naps == 1 && taken_over == 0,
	   "one that dies as it waits costs the others a nap");
}

/* Handlers other than that of SIGSYS cannot run, nor can the thread end. */
static void check_caller(void)
{
	struct cpuc_caller caller, again;
	sigset_t mask, held_mask, after;
	int type, state, held_state;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	errno = EDOM;
	cpuc_lock(&caller);
	errno = 0;
	pthread_sigmask(SIG_BLOCK, NULL, &held_mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held_state);
	pthread_setcancelstate(held_state, NULL);
	ok(sigismember(&held_mask, SIGALRM) &&
		   sigismember(&held_mask, SIGTERM) &&
		   sigismember(&held_mask, SIGUSR2) &&
		   !sigismember(&held_mask, SIGSYS),
	   "while it is held, SIGSYS alone is not blocked");
	ok(cpuc_lock(&again) == -EDEADLK, "nor gets it a second time");
	cpuc_unlock(&caller);
	ok(errno == EDOM, "errno is as before");
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	ok(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGALRM) &&
		   type == PTHREAD_CANCEL_ASYNCHRONOUS &&
		   state == PTHREAD_CANCEL_ENABLE,
	   "and so are mask and cancelability");
}

/* 1: it may be cancelled; 2: it has been; 3: and now it may end */
static atomic_int cancel_at;

static void *spins(void *unused)
{
	int type;

	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	cancel_at = 1;
	while (cancel_at == 1)
		;
	return unused;
}

/* Whether a thread may be cancelled at any instruction: glibc ends the program
 * where GCC's unwinder finds no way out of the handler, as under qemu-ppc. */
static int cancels(void)
{
	pthread_t id;

	cancel_at = 0;
	if (pthread_create(&id, NULL, spins, NULL) != 0)
		return CANNOT;
	while (cancel_at == 0)
		sched_yield();
	pthread_cancel(id);
	pthread_join(id, NULL);
	return 0;
}

static int cancelled_masked, cancelled_inside;

/* What a cleanup handler finds. */
static void cleaned(void *unused)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	cancelled_masked += sigismember(&mask, SIGALRM);
	cancelled_inside += cpuc_guard_inside || lock_inside != 0;
	(void)unused;
}

static void *is_cancelled(void *guarded)
{
	struct cpuc_caller caller;
	struct cpuc_guard guard;
	int type;

	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	pthread_cleanup_push(cleaned, NULL);
	if (guarded)
		cpuc_guard_enter(&guard);
	else
		cpuc_lock(&caller);
	cancel_at = 1;
	while (cancel_at == 1)
		;
	/* A signal, which has long been sent. */
	for (type = 0; type < 100; type++)
		sched_yield();
	cancel_at = 3;
	if (guarded)
		cpuc_guard_leave(&guard);
	else
		cpuc_unlock(&caller);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return NULL;
}

/* A request waits until nothing of the library's is in the thread's way. */
static void check_cancelled(const char *where, bool guarded)
{
	pthread_t id;

	if (in_child(cancels) != 0) {
		skip("cancelled in the %s: threads cannot be cancelled at any "
		     "instruction here",
		     where);
		return;
	}
	cancel_at = cancelled_masked = cancelled_inside = 0;
	if (pthread_create(&id, NULL, is_cancelled, guarded ? &id : NULL) != 0)
		skip_all("no thread");
	while (cancel_at == 0)
		sched_yield();
	pthread_cancel(id);
	cancel_at = 2;
	pthread_join(id, NULL);
	ok(cancel_at == 3 && cancelled_masked == 0 && cancelled_inside == 0,
	   "cancelled in the %s, a thread ends after it, nothing is blocked",
	   where);
}

/* A child is pretended: it has its parent's holder. */
static void check_child(const char *what)
{
	naps = 0;
	taken_over = 0;
	lock_once();
	lock_once();
	ok(naps == 0 && taken_over == 1 && !by_holder,
	   "%s takes it from its parent's holder, once", what);
}

/* Which may be in a probe, and goes on with it. */
static void check_holder_forks(void)
{
	lock_holder = lock_inside = ((uintptr_t)getpid() + 1) * 4 + 1;
	lock_once();
	ok(by_holder, "but in the holder's own child it is the holder");
}

/* By now there are marks. */
static void check_same_id(void)
{
	struct cpuc_caller caller;
	const uint32_t *mark;

	cpuc_probe_begin();
	cpuc_lock(&caller);
	cpuc_lock_prepare();
	cpuc_probe_end();
	mark = (const uint32_t *)lock_holder;
	cpuc_unlock(&caller);
	ok(mark == cpuc_process_mark(), "it is held by a mark");
	cpuc_process->mark[cpuc_process_generation % CPUC_MARKS] = 0;
	lock_holder &= ~LOCK_FREE;
	check_child("one of the same process id");
}

int main(void)
{
	check_waiting();
	check_caller();
	check_cancelled("lock", false);
#ifdef __linux__
	if (!SANITIZED)
		check_cancelled("guard", true);
#endif
	lock_holder = ((uintptr_t)getpid() + 1) * 4 + 1;
	check_child("a child");
	check_holder_forks();
	check_fork_handler();
	check_same_id();
	check_memory();
	return done_testing();
}
#endif
