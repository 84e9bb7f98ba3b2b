/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open: lets ordinary users read the counters, and undoes it. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <glob.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "settings.h"
#include "../common/terminal.h"
#include "../common/tool.h"

static const char open_state[] = "/run/cpucycles-open.state";
static const char open_lock[] = "/run/cpucycles-open.lock";
static const char open_sysctl[] = "/etc/sysctl.d/60-cpucycles.conf";
static const char open_tmpfiles[] = "/etc/tmpfiles.d/cpucycles.conf";
#define DEVICES "sys/bus/event_source/devices"

static struct {
	int status, apply, persist, revert, dry; /* options */
	int rdpmc_all, no_nmi, when;             /* bits: the values wanted */
	int found, shown, stuck; /* settings; stuck without a record */
	int old[OPEN_SETTINGS];  /* the record */
} run;

/* clang-format off */
static const char open_help[] =
	"Usage: cpucycles-open [OPTION]...\n"
	"Lets ordinary users read the CPU's cycle counters, and undoes it.\n"
	"\n"
	"      --status           print each setting and what it allows: the default\n"
	"      --apply            open what the library needs, until the next boot\n"
	"      --persist          the same, and at every boot\n"
	"      --revert           restore what was found, and undo --persist\n"
	"      --dry-run          say what would be done, and change nothing\n"
	"      --rdpmc-all        also set rdpmc to 2, for amd64-pmcff. Risk: every\n"
	"                         process may then read every counter at any time\n"
	"      --no-nmi-watchdog  also switch off the NMI watchdog, to free a counter.\n"
	"                         Risk: hard lockups are no longer detected\n"
	"      --root DIR         put DIR before the path of every file\n"
	"  -h, --help             print this help and exit\n"
	"  -V, --version          print the version and exit\n"
	"\n"
	"Exit status: 0 done or open, 1 something is closed or failed, 2 wrong usage.\n";
/* clang-format on */

static int open_failed(const char *doing, const char *path, int err)
{
	bool denied = err == -EACCES || err == -EPERM || err == -EROFS;

	return tool_failed("cannot %s %s: %s%s", doing, path,
			   err > 0 ? "it was not written by cpucycles-open, or "
				     "is damaged; restore what it names, then "
				     "move it away"
				   : strerror(-err),
			   denied ? "; run this as root, outside of containers"
				  : "");
}

/* Two runs at once would record each other's half-made changes. The lock is a
 * file of its own, as every write replaces the record, and stays, or some would
 * wait for one that is gone. Only root can open it: no user makes root wait. */
static int open_take_lock(void)
{
	int fd = open(open_lock + 1, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
		      0600);

	/* Open, and locked, until the end. */
	return fd >= 0 ? flock(fd, LOCK_EX) : -1;
}

/* The working directory stands for the root directory: path + 1. */
static int open_get(const char *path, int *value)
{
	FILE *f = fopen(path + 1, "r");
	int err = 0;
	char end;

	if (f == NULL)
		return errno == ENOTDIR ? -ENOENT : -errno;
	/* Nine digits fit. NOLINTNEXTLINE(cert-err34-c) */
	if (fscanf(f, "%9d%c", value, &end) != 2 || end != '\n')
		err = ferror(f) ? -errno : -EINVAL;
	fclose(f);
	return err;
}

static int open_load(const char *path, int old[OPEN_SETTINGS])
{
	FILE *f = fopen(path + 1, "r");
	int err;

	memset(old, -1, OPEN_SETTINGS * sizeof *old);
	if (f == NULL)
		return -errno;
	err = open_parse(old, f);
	fclose(f);
	return err;
}

/* After a boot, only the files of --persist have the record. */
static int open_recall(void)
{
	const char *path = open_state;
	int err = open_load(path, run.old);

	if (err == -ENOENT)
		err = open_load(path = open_sysctl, run.old);
	if (err == 0 || err == -ENOENT ||
	    (err == OPEN_FOREIGN && path == open_sysctl))
		return TOOL_GOOD;
	return open_failed("use", path, err);
}

/* Writes the record and, for the next boot, the lines that make the settings
 * again; or removes the file. All or nothing. */
static int open_write(const char *path, bool keep)
{
	const struct open_setting *s = open_settings;
	const char *last = "";
	char new[64];
	int i, ok;
	FILE *f;

	if (!keep)
		return unlink(path + 1) == 0 ? 0 : -errno;
	snprintf(new, sizeof new, "%s.new", path);
	unlink(new + 1); /* a killed run's */
	f = fopen(new + 1, "wx");
	if (f == NULL)
		return -errno;
	open_format(run.old, f);
	for (i = 0; i < OPEN_SETTINGS; i++, s++) {
		/* What an option opened is made again by that option alone. */
		if (run.old[i] < 0 || (s->when & ~run.when) != 0 ||
		    strcmp(s->path, last) == 0)
			continue;
		last = s->path;
		if (path == open_sysctl && s->sysctl != NULL)
			fprintf(f, "%s = %d\n", s->sysctl, s->value);
		if (path == open_tmpfiles && s->sysctl == NULL)
			fprintf(f, "w %s - - - - %d\n", s->path, s->value);
	}
	/* A crash must not leave an empty file. */
	ok = fflush(f) == 0 && fsync(fileno(f)) == 0;
	fclose(f);
	if (ok && rename(new + 1, path + 1) == 0)
		return 0;
	i = errno;
	unlink(new + 1);
	return -i;
}

/* Writes a file, or removes it if nothing belongs there. */
static int open_save(const char *path)
{
	bool may = path == open_state || run.persist, keep = false;
	int i, old[OPEN_SETTINGS], err = open_load(path, old);

	for (i = 0; i < OPEN_SETTINGS && may; i++)
		keep |= run.old[i] >= 0 &&
			(path != open_tmpfiles || !open_settings[i].sysctl);
	if (!keep && err == OPEN_FOREIGN)
		terminal_line("left %s: not written by cpucycles-open", path);
	if (!keep && (err == -ENOENT || err == OPEN_FOREIGN))
		return TOOL_GOOD;
	if (err == 0 || err == -ENOENT || err == OPEN_DAMAGED)
		err = run.dry ? 0 : open_write(path, keep);
	if (err != 0)
		return open_failed(keep ? "write" : "remove", path, err);
	if (path == open_state)
		return TOOL_GOOD;
	run.shown++;
	terminal_line("%s%s %s", run.dry ? "would " : "",
		      keep ? "write" : "remove", path);
	return TOOL_GOOD;
}

static int open_change(int i, int *now, int value)
{
	const struct open_setting *s = &open_settings[i];
	FILE *f = run.dry ? NULL : fopen(s->path + 1, "w");
	bool good = run.dry || (f != NULL && fprintf(f, "%d\n", value) > 0);

	if ((f != NULL && fclose(f) != 0) || !good)
		return open_failed("write", s->path, -errno);
	terminal_line("%s %s: %d -> %d: %s", run.dry ? "would set" : "set",
		      s->path, *now, value,
		      value == s->value ? s->allows : "as it was");
	run.shown++;
	*now = value;
	return TOOL_GOOD;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as the others. */
static int open_status(int i, int *now)
{
	const struct open_setting *s = &open_settings[i];
	bool enough = open_enough(i, *now);
	bool wanted = (s->when & ~run.when) == 0;
	char how[80] = ", open; ";

	if (!enough && !wanted && s->when == OPEN_KERNEL_TOO)
		return TOOL_GOOD;
	run.shown++;
	if (!enough && !wanted)
		snprintf(how, sizeof how, "; %s sets %d: ",
			 s->when == OPEN_NO_NMI ? "--no-nmi-watchdog"
						: "--rdpmc-all",
			 s->value);
	else if (!enough)
		snprintf(how, sizeof how, ", closed; with %d, ", s->value);
	else if (run.old[i] >= 0)
		snprintf(how, sizeof how, ", open, and %d before; ",
			 run.old[i]);
	terminal_line("%s: %d%s%s", s->path, *now, how, s->allows);
	return enough || !wanted ? TOOL_GOOD : TOOL_FINDING;
}

static int open_apply(int i, int *now)
{
	int *old = &run.old[i], before = *old;

	if ((open_settings[i].when & ~run.when) != 0 || open_enough(i, *now))
		return TOOL_GOOD;
	*old = *now;
	run.stuck = open_save(open_state) != TOOL_GOOD;
	if (!run.stuck && !open_change(i, now, open_settings[i].value))
		return TOOL_GOOD;
	*old = before;
	if (!run.stuck)
		open_save(open_state);
	return TOOL_FINDING;
}

static int open_revert(int i, int *now)
{
	int *old = &run.old[i], value = open_settings[i].value;

	if (*old >= 0 && *now == value && open_change(i, now, *old))
		return TOOL_FINDING;
	if (*old >= 0 && *now != *old) {
		terminal_line("left %s: %d, set by somebody since; it was %d",
			      open_settings[i].path, *now, *old);
		run.shown++;
	}
	*old = -1;
	return TOOL_GOOD;
}

static int open_each(void)
{
	static int (*const act[])(int, int *) = {open_status, open_apply,
						 open_revert};
	int i, now = 0, err = 0, status = TOOL_GOOD;
	const char *path = "";

	for (i = 0; i < OPEN_SETTINGS && !run.stuck; i++) {
		if (strcmp(path, open_settings[i].path) != 0) {
			path = open_settings[i].path;
			err = open_get(path, &now);
			if (err == -EACCES && !run.revert &&
			    (run.dry || !run.apply))
				printf("%s: only root can read it\n", path);
			else if (err != 0 && err != -ENOENT)
				status = open_failed("read", path, err);
		}
		if (err == 0) {
			run.found++;
			err = act[run.apply + 2 * run.revert](i, &now);
			status |= err;
		} else if (err == -ENOENT && run.revert)
			run.old[i] = -1;
	}
	return status;
}

/* Whether sysfs lists no PMU of cores, as in pmus.c; false without sysfs. */
static bool open_no_pmu(void)
{
	glob_t found = {0};
	bool none;

	glob(DEVICES "/*/cpus", 0, NULL, &found);
	glob(DEVICES "/cpu*", GLOB_APPEND, NULL, &found);
	glob(DEVICES "/armv*", GLOB_APPEND, NULL, &found);
	none = found.gl_pathc == 0;
	globfree(&found);
	return none && access(DEVICES, X_OK) == 0;
}

/* Whether to write, maybe; if not, there is no lock, and no file of it. */
static bool open_needed(void)
{
	static const char *const files[] = {open_state, open_sysctl,
					    open_tmpfiles};
	int i, err, now = 0, old[OPEN_SETTINGS];
	bool needed = false;

	if (run.apply && open_no_pmu())
		return false;
	for (i = 0; i < 3 && (run.revert || run.persist); i++) {
		err = open_load(files[i], old);
		needed |= err != -ENOENT && err != OPEN_FOREIGN;
	}
	for (i = 0; i < OPEN_SETTINGS && run.apply; i++) {
		err = open_get(open_settings[i].path, &now);
		needed |= (open_settings[i].when & ~run.when) == 0 &&
			  err != -ENOENT && (err != 0 || !open_enough(i, now));
	}
	return needed;
}

static int open_run(void)
{
	int status = open_recall(), saved = TOOL_GOOD, old[OPEN_SETTINGS];
	bool none;

	if (status != TOOL_GOOD && (run.apply || run.revert))
		return status;
	none = !run.revert && open_no_pmu();
	if (!run.apply || !none)
		status |= open_each();
	if (none)
		terminal_line("no PMU is visible here (virtual machine?), so "
			      "opening cannot help");
	if (run.apply && none)
		return status;
	if (run.found == 0 && status == TOOL_GOOD && !run.revert)
		status = open_failed("find", "a setting (is /proc mounted?)",
				     -ENOENT);
	if (!run.apply && !run.revert && open_load(open_sysctl, old) == 0)
		terminal_line("%s: makes settings at every boot", open_sysctl);
	if (run.revert)
		saved = open_save(open_state);
	if ((run.revert || run.persist) && saved == TOOL_GOOD)
		saved = open_save(open_sysctl) || open_save(open_tmpfiles);
	if (run.shown == 0 && (status | saved) == TOOL_GOOD)
		printf("nothing to do\n");
	return status | saved;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"apply", no_argument, &run.apply, 1},
		{"dry-run", no_argument, &run.dry, 1},
		{"help", no_argument, NULL, 'h'},
		{"no-nmi-watchdog", no_argument, &run.no_nmi, OPEN_NO_NMI},
		{"persist", no_argument, &run.persist, 1},
		{"rdpmc-all", no_argument, &run.rdpmc_all, OPEN_RDPMC_ALL},
		{"revert", no_argument, &run.revert, 1},
		{"root", required_argument, NULL, 'r'},
		{"status", no_argument, &run.status, 1},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	const char *root = "/";
	int o;

	tool_begin("cpucycles-open", open_help, 0);
	while ((o = tool_option(argc, argv, "hV", options)) != -1)
		if (o == 'r')
			root = optarg;
	run.apply |= run.persist;
	if (run.status + run.apply + run.revert > 1 ||
	    (run.status && run.dry) ||
	    (run.revert && (run.rdpmc_all || run.no_nmi)))
		return tool_usage("these options exclude each other");
	if (optind < argc)
		return tool_usage("unexpected argument '%s'", argv[optind]);
	if (run.dry && !run.revert)
		run.apply = 1;
	if (chdir(root) != 0) {
		open_failed("use", root, -errno);
		return TOOL_USAGE;
	}
	umask(022); /* --status is for everybody */
	run.when = run.rdpmc_all | run.no_nmi |
		   (open_kernel_too() ? OPEN_KERNEL_TOO : 0);
	run.dry |= !open_needed();
	if (!run.dry && open_take_lock() != 0)
		return open_failed("lock", open_lock, -errno);
	return tool_end(stdout, NULL, open_run());
}
