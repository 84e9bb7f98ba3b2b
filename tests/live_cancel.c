/* SPDX-License-Identifier: 0BSD */
/* A request to cancel a thread that arrives late: pthread_cancel(3) marks the
 * thread and sends a signal, and in between the thread may come as far as the
 * midst of a selection. Here that signal alone is sent, while the thread is in
 * a system call that is a cancellation point in the C library; at each of them
 * in turn. The filter's listener says when. */
#include "faults/faults.h"

#if defined __GLIBC__ && defined HAVE_LINUX_FILTER_H && \
	defined SECCOMP_RET_USER_NOTIF &&               \
	defined SECCOMP_USER_NOTIF_FLAG_CONTINUE
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>

#define SIGNAL_CANCEL 32 /* glibc's, of which programs see nothing */

/* How many calls there were, and which of them the signal is for. */
static struct {
	int called, late;
} * calls;

static int listener = -2; /* not yet */
static pid_t tid;

/* From now on this thread's system calls that may be cancelled wait for an
 * answer by the one who reads the result: a descriptor, or -1. */
static int listen_to_thread(void)
{
	static const long told[] = {
#ifdef SYS_open
		SYS_open,
#endif
#ifdef SYS_nanosleep
		SYS_nanosleep,
#endif
		SYS_openat, SYS_read, SYS_close};

	return filter(told, sizeof told / sizeof *told, SECCOMP_RET_USER_NOTIF,
		      SECCOMP_RET_ALLOW, SECCOMP_FILTER_FLAG_NEW_LISTENER);
}

static void *selecting(void *through)
{
	int old, fd;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	tid = (pid_t)syscall(SYS_gettid);
	fd = listen_to_thread();
	__atomic_store_n(&listener, fd, __ATOMIC_RELEASE);
	if (fd >= 0) {
		cpucycles();
		cpucycles_persecond();
	}
	*(int *)through = 1;
	return NULL;
}

/* Answers a call, or interrupts it by the signal. The kernel begins it again
 * after the handler. */
static void answer(void)
{
	struct pollfd ready = {.fd = listener, .events = POLLIN};
	struct seccomp_notif call;
	struct seccomp_notif_resp go_on = {
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	if (poll(&ready, 1, 1) != 1 || !(ready.revents & POLLIN))
		return;
	memset(&call, 0, sizeof call);
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
		return;
	if (calls->called++ == calls->late) {
		syscall(SYS_tgkill, getpid(), tid, SIGNAL_CANCEL);
		return;
	}
	go_on.id = call.id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go_on);
}

static void *pausing(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* A first selection, with the signal at one of its calls. The C library
 * installs its handler at the first request. */
static int late_at_call(void)
{
	int through = 0;
	pthread_t id;

	if (pthread_create(&id, NULL, pausing, NULL) != 0)
		return CANNOT;
	pthread_cancel(id);
	pthread_join(id, NULL);
	if (pthread_create(&id, NULL, selecting, &through) != 0)
		return CANNOT;
	while (__atomic_load_n(&listener, __ATOMIC_ACQUIRE) == -2)
		sched_yield();
	if (listener < 0)
		return CANNOT;
	while (pthread_tryjoin_np(id, NULL) == EBUSY)
		answer();
	return !through;
}

static int late(void)
{
	int bad;

	do {
		calls->called = 0;
		bad = in_child(late_at_call);
	} while (bad == 0 && calls->called > calls->late++);
	if (bad != CANNOT)
		printf("# %s call %d\n", bad ? "ended in" : "survived until",
		       calls->late);
	fflush(stdout);
	return bad == 0 && calls->late < 2 ? 2 : bad;
}

int main(void)
{
	if (SANITIZED)
		skip_all("sanitizers have cancellation points of their own");
	calls = shared(sizeof *calls);
	point("a late request to cancel a thread does not end it in a "
	      "selection",
	      late, "no filter tells of system calls");
	return done_testing();
}
#else
int main(void)
{
	skip_all("not glibc, or no filter tells of system calls");
}
#endif
