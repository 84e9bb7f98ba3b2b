/* SPDX-License-Identifier: 0BSD */
/* The environment of a process with raised privileges has no say: a copy of
 * this program that is set-user-ID, or set-group-ID where only that can be
 * made, tells what it selects. */
#include "faults/faults.h"

#ifdef __linux__
#include <sys/auxv.h>
#include <sys/stat.h>

#define NAMED "default-gettimeofday"

static char directory[1024], program[1100];

static int copy_self(void)
{
	char command[1200];

	snprintf(command, sizeof command, "cp /proc/%ld/exe '%s'",
		 (long)getpid(), program);
	return system(command);
}

/* A user or a group that is not this process's. */
static int raise_privileges(void)
{
	gid_t groups[64];
	int i, n = getgroups(64, groups);

	if (geteuid() == 0)
		return chown(program, 65534, (gid_t)-1) != 0 ||
		       chmod(program, 04755) != 0;
	for (i = 0; i < n; i++)
		if (groups[i] != getegid() && groups[i] != 65534)
			return chown(program, (uid_t)-1, groups[i]) != 0 ||
			       chmod(program, 02755) != 0;
	return -1;
}

/* Runs the copy, which tells its counter. 0 if it did. */
static int run(char name[64], int *secure)
{
	char command[1200];
	FILE *f;
	int got;

	snprintf(command, sizeof command, "exec '%s' tell", program);
	f = popen(command, "r");
	got = f != NULL && fscanf(f, "%d %63s", secure, name) == 2;
	return f == NULL || pclose(f) != 0 || !got;
}

static void check(void)
{
	char plain[64], raised[64];
	int secure = 0;

	setenv("cpucyclesimplementation", NAMED, 1);
	if (copy_self() != 0 || run(plain, &secure) != 0) {
		skip("no copy of this program can be run in %s", directory);
		return;
	}
	ok(!secure && !strcmp(plain, NAMED), "a counter that is asked for: %s",
	   plain);
	if (raise_privileges() != 0 || run(raised, &secure) != 0 || !secure) {
		skip("privileges cannot be raised here");
		return;
	}
	ok(strcmp(raised, NAMED) != 0,
	   "is not taken with raised privileges: %s", raised);
}

int main(int argc, char **argv)
{
	const char *tmp = getenv("TMPDIR");

	if (argc > 1 && !strcmp(argv[1], "tell")) {
		printf("%d %s\n", getauxval(AT_SECURE) != 0,
		       cpucycles_implementation());
		return 0;
	}
	snprintf(directory, sizeof directory, "%s/cpuc-privileges.XXXXXX",
		 tmp && strlen(tmp) < 900 ? tmp : "/tmp");
	if (mkdtemp(directory) == NULL)
		skip_all("no directory in %s", directory);
	/* To the kernel, the copy's user is not the directory's owner. */
	chmod(directory, 0755);
	snprintf(program, sizeof program, "%s/copy", directory);
	check();
	unlink(program);
	rmdir(directory);
	return done_testing();
}
#else
int main(void)
{
	skip_all("whether privileges are raised is known on Linux alone");
}
#endif
