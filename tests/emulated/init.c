/* SPDX-License-Identifier: 0BSD */
/* The emulated machine's /init: does what the strings in /bed say, then ends
 * the machine with the exit status of the programs it ran.
 *
 * /bed is a sequence of strings, each ended by a null character:
 *	set=NAME=VALUE	write /proc/sys/kernel/NAME, or /proc/sys/NAME where
 *			NAME contains a slash, or NAME where it begins with one
 *	env=NAME=VALUE	environment of the programs that follow
 *	uid=N		run them as this user and group
 *	say=TEXT	print it, on a line of its own
 *	run=PATH	a program, run after those before it
 *	arg=TEXT	its next argument
 * A file and not the kernel's command line, which has no null characters, is
 * shorter, and keeps words with a dot in them to itself. */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define MAX_ARGS 64

static char bed[65536];
static long uid;

/* The last line on the console is the exit status. A machine that dies of
 * something else has none. */
static void finish(int status)
{
	printf("::bed exit %d::\n", status);
	fflush(stdout);
	tcdrain(1);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void fail(const char *what)
{
	printf("emulated init: %s: %s\n", what, strerror(errno));
	finish(99);
}

static void must_mount(const char *type, const char *where, const char *opts)
{
	if (mkdir(where, 0755) && errno != EEXIST)
		fail(where);
	if (mount(type, where, type, 0, opts))
		fail(where);
}

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	int r;

	if (fd < 0)
		return -1;
	r = write(fd, text, n) == (ssize_t)n ? 0 : -1;
	close(fd);
	return r;
}

/* The kernel had no console to give: there was no /dev when it looked. */
static void open_console(void)
{
	struct termios t;
	int fd = open("/dev/console", O_RDWR);

	for (int i = 0; fd >= 0 && i < 3; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
	/* No carriage returns, and nothing echoed. */
	if (!tcgetattr(1, &t)) {
		cfmakeraw(&t);
		tcsetattr(1, TCSANOW, &t);
	}
}

static void set(char *setting)
{
	char path[256];
	char *value = strchr(setting, '=');

	if (!value) {
		errno = EINVAL;
		fail(setting);
	}
	*value++ = 0;
	snprintf(path, sizeof path, "%s%s",
		 *setting == '/'        ? ""
		 : strchr(setting, '/') ? "/proc/sys/"
					: "/proc/sys/kernel/",
		 setting);
	if (write_file(path, value))
		fail(path);
}

/* A shell's exit status of the program. */
static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	if (!pid) {
		if (setsid() < 0 || setgroups(0, NULL) || setgid((gid_t)uid) ||
		    setuid((uid_t)uid))
			fail("setuid");
		execv(argv[0], argv);
		printf("%s: %s\n", argv[0], strerror(errno));
		fflush(stdout);
		_exit(127);
	}
	/* Orphans come here too: only the program's own end counts. */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	if (WIFSIGNALED(status)) {
		printf("%s: %s\n", argv[0], strsignal(WTERMSIG(status)));
		return 128 + WTERMSIG(status);
	}
	return WEXITSTATUS(status);
}

/* Runs what has been collected, if anything; the first failure is what the
 * machine ends with, but the rest still runs. */
static void flush_program(char **argv, int *argc, int *status)
{
	int r;

	if (!*argc)
		return;
	argv[*argc] = NULL;
	*argc = 0;
	fflush(stdout);
	r = run(argv);
	if (!*status)
		*status = r;
}

static int obey(char *s, const char *end)
{
	char *argv[MAX_ARGS + 1];
	int argc = 0, status = 0;

	for (char *next; s < end; s = next) {
		char *text = s + 4;

		next = s + strlen(s) + 1;
		if (strncmp(s, "arg=", 4) != 0)
			flush_program(argv, &argc, &status);
		if (!strncmp(s, "set=", 4)) {
			set(text);
		} else if (!strncmp(s, "env=", 4)) {
			putenv(text);
		} else if (!strncmp(s, "uid=", 4)) {
			uid = atol(text);
		} else if (!strncmp(s, "say=", 4)) {
			puts(text);
		} else if (argc < MAX_ARGS &&
			   (!strncmp(s, "run=", 4) || !strncmp(s, "arg=", 4))) {
			argv[argc++] = text;
		} else {
			errno = EINVAL;
			fail(s);
		}
	}
	flush_program(argv, &argc, &status);
	return status;
}

int main(void)
{
	size_t n = 0;
	ssize_t got;
	int fd;

	must_mount("devtmpfs", "/dev", NULL);
	open_console();
	must_mount("proc", "/proc", NULL);
	must_mount("sysfs", "/sys", NULL);
	must_mount("tmpfs", "/tmp", "mode=1777");
	must_mount("tmpfs", "/run", "mode=755");
	/* From here on the console belongs to the programs. */
	write_file("/proc/sys/kernel/printk", "1");
	printf("\n::bed start::\n");
	fflush(stdout);

	fd = open("/bed", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail("/bed");
	while ((got = read(fd, bed + n, sizeof bed - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	finish(obey(bed, bed + n));
}
