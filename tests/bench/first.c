/* SPDX-License-Identifier: 0BSD */
/* What the first call costs: the median of fresh processes, which this
 * program makes by running itself. */
#include <sys/wait.h>
#include "bench.h"

#define PROCESSES 51

/* A pipe instead of the exit status: nanoseconds do not fit that. */
static double one(const char *self)
{
	double ns = -1;
	int fd[2];
	pid_t pid;

	if (pipe(fd) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(fd[1], 1);
		execl(self, self, "once", (char *)NULL);
		_exit(1);
	}
	close(fd[1]);
	if (read(fd[0], &ns, sizeof ns) != sizeof ns)
		ns = -1;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return ns;
}

int main(int argc, char **argv)
{
	static double ns[PROCESSES];
	double t;
	int i;

	if (argc > 1 && strcmp(argv[1], "once") == 0) {
		bench_ns(); /* the vDSO's own first call is not ours */
		t = bench_ns();
		cpucycles();
		t = bench_ns() - t;
		return write(1, &t, sizeof t) != sizeof t;
	}
	for (i = 0; i < PROCESSES; i++)
		if ((ns[i] = one(argv[0])) < 0) {
			fprintf(stderr, "bench: cannot run %s\n", argv[0]);
			return 1;
		}
	printf("The first call, of %d fresh processes: median %.3f ms, 10th "
	       "percentile %.3f ms, 90th %.3f ms (%s)\n",
	       PROCESSES, bench_percentile(ns, PROCESSES, 50) / 1e6,
	       bench_percentile(ns, PROCESSES, 10) / 1e6,
	       bench_percentile(ns, PROCESSES, 90) / 1e6,
	       cpucycles_implementation());
	return 0;
}
