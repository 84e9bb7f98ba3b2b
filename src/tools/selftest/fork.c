/* SPDX-License-Identifier: 0BSD */
/* Does the child of a fork count on? */
#include <config.h>
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "selftest.h"

#define PATIENCE 30 /* seconds, for a child that hangs */

/* What the child found. */
struct report {
	long long first; /* count */
	bool still;      /* the count does not advance */
	bool measured;   /* rate is */
	struct selftest_rate rate;
};

static struct report child(const struct selftest *self)
{
	struct report r;

	memset(&r, 0, sizeof r);
	r.first = cpucycles();
	r.still = selftest_await(r.first) <= r.first;
	if (!r.still)
		r.measured = selftest_rate(self, self->ms / 10, &r.rate);
	return r;
}

/* 0, or what became of the child, as waitpid tells, or -1. */
static int ask_child(const struct selftest *self, struct report *r)
{
	ssize_t got;
	int fd[2], status = -1;
	pid_t pid;

	if (pipe(fd) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		alarm(PATIENCE);
		*r = child(self);
		_exit(write(fd[1], r, sizeof *r) != sizeof *r);
	}
	close(fd[1]);
	do
		got = pid > 0 ? read(fd[0], r, sizeof *r) : -1;
	while (got < 0 && pid > 0 && errno == EINTR);
	close(fd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return got == sizeof *r ? 0 : status ? status : -1;
}

enum outcome selftest_fork(struct selftest *self)
{
	struct report r;
	long long last;
	int status;

	if (!selftest_base(self))
		return selftest_say(self, SKIPPED,
				    "the core's rate cannot be measured");
	last = cpucycles();
	status = ask_child(self, &r);
	if (status == -1)
		return selftest_say(self, SKIPPED, "cannot fork: %s",
				    strerror(errno));
	if (status != 0)
		return selftest_say(self, BAD, "the child ended by signal %d",
				    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	if (r.still)
		return selftest_say(self, BAD,
				    "the count stands still in the child");
	if (r.first < last)
		return selftest_say(self, BAD,
				    "the child's first count is %lld below the "
				    "parent's last",
				    last - r.first);
	if (selftest_await(last) <= last)
		return selftest_say(self, BAD,
				    "the count stands still in the parent");
	if (!r.measured)
		return selftest_say(self, SKIPPED,
				    "the child counts, but its rate cannot be "
				    "measured");
	return selftest_say(self, selftest_same(self, &r.rate) ? GOOD : OFF,
			    "the child counts on from %lld, at %.2f%% of the "
			    "parent's rate",
			    r.first,
			    100 * (double)r.rate.ppm / (double)self->base_ppm);
}
