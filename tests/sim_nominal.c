/* SPDX-License-Identifier: 0BSD */
/* stated_rate.c on fake trees: one for every format, and hostile ones, in the C
 * locale and in one whose decimal point is a comma. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/stated_rate.h"
#include "tap.h"
#include "tree.h"

#define ETC "/etc/cpucyclespersecond"
#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define SETSPEED CPU0 "cpufreq/scaling_setspeed"
#define SCALING CPU0 "cpufreq/scaling_max_freq"
#define TICK CPU0 "clock_tick"
#define CPUINFO "/proc/cpuinfo"
#define HARDWARE CPU0 "cpufreq/cpuinfo_max_freq"
#define TREE "/proc/device-tree/cpus/cpu@0/clock-frequency"
#define TSC CPU0 "tsc_freq_khz"
#define TIMEBASE "/proc/device-tree/cpus/timebase-frequency"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *const paths[] = {ETC,  SETSPEED, SCALING, HARDWARE, TICK,
				    TREE, CPUINFO,  TSC,     TIMEBASE};

static void clear(void)
{
	for (size_t i = 0; i < COUNT(paths); i++)
		remove(place(paths[i]));
}

/* Of all the sources, which speak of the core. */
static bool speaks_of_core(const char *source)
{
	static const char *const others[] = {"unknown", CPUINFO " cpu MHz",
					     CPUINFO " CPU MHz", TSC};
	size_t i;

	for (i = 0; i < COUNT(others); i++)
		if (strcmp(source, others[i]) == 0)
			return false;
	return true;
}

static int answers(const char *source, uint64_t hz)
{
	/* Static for gcc's analyzer, which loses the flag of one on the stack.
	 */
	static struct cpuc_rate got;

	got = cpuc_stated_rate(root);
	if (got.hz == hz && strcmp(got.source, source) == 0 &&
	    got.of_core == speaks_of_core(source))
		return 1;
	diag("%" PRIu64 " %s (%d) instead of %" PRIu64 " %s", got.hz,
	     got.source, got.of_core, hz, source);
	return 0;
}

#define NOBODY "unknown", 0

static const struct tree {
	const char *what;
	const char *source;
	uint64_t hz;
	const char *path;
	const char *text;
} trees[] = {
	{"a plain number", ETC, 2399987654, ETC, "2399987654\n"},
	{"a number without newline", ETC, 2399987654, ETC, "2399987654"},
	{"a comment after it", ETC, 2399987654, ETC, "2399987654 # by me\n"},
	{"a comment without newline", ETC, 2399987654, ETC, "2399987654#me"},
	{"a comment in other letters", ETC, 2400000000, ETC,
	 "2400000000 # \303\251 \377 # 3\n"},
	{"lines of comment", ETC, 2400000000, ETC,
	 "# 3000000000\n#\n  # Hz\n\n2.4e9\n# 3000000000\n#"},
	{"lines of comment, with CR", ETC, 2400000000, ETC,
	 "# Hz\r\n2400000000 # Hz\r\n"},
	{"nothing but comments", NOBODY, ETC, "# 2399987654\n#2399987654"},
	{"a comment in the number", NOBODY, ETC, "24000 # 00000\n00000\n"},
	{"a number after a comment", NOBODY, ETC, "2400000000 # x\n2400000000"},
	{"an exponent cut off by a comment", NOBODY, ETC, "2.4e#9\n"},
	{"a word before a comment", NOBODY, ETC, "2400000000 Hz # by me\n"},
	{"another comment sign", NOBODY, ETC, "2400000000 ; by me\n"},
	{"a comment in sysfs", NOBODY, SCALING, "3400000 # kHz\n"},
	{"a comment in sysfs, in Hz", NOBODY, TICK, "# Hz\n1593535693\n"},
	{"a set speed", SETSPEED, 3400000000, SETSPEED, "3400000\n"},
	{"no set speed", NOBODY, SETSPEED, "<unsupported>\n"},
	{"a maximum", SCALING, 3400000000, SCALING, "3400000\n"},
	{"a maximum in Hz", NOBODY, SCALING, "3400000000\n"},
	{"a sparc64 tick", TICK, 1593535693, TICK, "1593535693\n"},
	{"the hardware's limit", HARDWARE, 4000000000, HARDWARE, "4000000\n"},
	{"a TSC rate", TSC, 2596123000, TSC, "2596123\n"},
	{"x86 cpuinfo", CPUINFO " cpu MHz", 2596120000, CPUINFO,
	 "processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\n"
	 "cpu MHz\t\t: 2596.120\ncache size\t: 512 KB\n\n"
	 "processor\t: 1\ncpu MHz\t\t: 3000.000\n"},
	{"x86 cpuinfo cut short", CPUINFO " cpu MHz", 2596120000, CPUINFO,
	 "cpu MHz\t\t: 2596.120"},
	{"LoongArch cpuinfo", CPUINFO " CPU MHz", 2500000000, CPUINFO,
	 "system type\t\t: generic-loongson-machine\n"
	 "CPU Family\t\t: Loongson-64bit\nCPU MHz\t\t\t: 2500.00\n"},
	{"POWER cpuinfo", CPUINFO " clock", 3550000000, CPUINFO,
	 "processor\t: 0\ncpu\t\t: POWER7\nclock\t\t: 3550.000000MHz\n"
	 "timebase\t: 512000000\n"},
	{"a clock without unit", NOBODY, CPUINFO, "clock\t: 3550.000000\n"},
	{"s390x cpuinfo", CPUINFO " cpu MHz static", 5200000000, CPUINFO,
	 "vendor_id       : IBM/S390\ncpu number      : 0\n"
	 "cpu MHz dynamic : 5100\ncpu MHz static  : 5200\n"},
	{"only a dynamic rate", NOBODY, CPUINFO, "cpu MHz dynamic : 5200\n"},
	{"arm64 cpuinfo", NOBODY, CPUINFO,
	 "processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n"},
	{"the first of two keys", CPUINFO " cpu MHz static", 5200000000,
	 CPUINFO, "cpu MHz static : 5200\nclock : 3550MHz\ncpu MHz : 2000\n"},
	{"the first of the same key", CPUINFO " clock", 3550000000, CPUINFO,
	 "clock : 0MHz\nclock : 3550MHz\nclock : 1000MHz\n"},
	{"a comment in cpuinfo", NOBODY, CPUINFO, "cpu MHz : 2000 # x\n"},
	{"the first believable value", CPUINFO " cpu MHz", 2000000000, CPUINFO,
	 "cpu MHz\ncpu MHz :\ncpu MHz : unknown\ncpu MHz : 0.000\n"
	 "cpu MHz : 2000 : 3\ncpu MHz : 2000\ncpu MHz : 3000\n"},
	{"keys that only look alike", NOBODY, CPUINFO,
	 "Cpu MHz : 2000\nmax cpu MHz : 2000\ncpu MHz max : 2000\n"
	 "cpu  MHz : 2000\ncpu MHz 2000\ncpu MHz = 2000\n: 2000\n"
	 "model : cpu MHz : 2000\nclocking : 33.0MHz\n"},
	{"blanks around the key", CPUINFO " cpu MHz", 2000000000, CPUINFO,
	 "\n \t\n \tcpu MHz \t:2000 \t\r\n"},
};

static void test_formats(const char *locale)
{
	for (size_t i = 0; i < COUNT(trees); i++) {
		const struct tree *t = &trees[i];

		clear();
		put_text(t->path, t->text);
		ok(answers(t->source, t->hz), "%s: %s", locale, t->what);
	}
	clear();
	ok(answers(NOBODY), "%s: a tree without files", locale);
}

/* The property's cells: bytes of these. */
static void test_device_tree(const char *locale)
{
	static const unsigned char cells[] = {0,    0, 0, 0, 0x8f, 0x0d,
					      0x18, 0, 0, 0, 0,    0};
	static const struct {
		const char *what;
		size_t from, size;
		bool good;
	} rows[] = {
		{"one cell", 4, 4, true},
		{"two cells", 0, 8, true},
		{"less than two cells", 1, 7, false},
		{"three cells", 0, 12, false},
		{"cells out of range", 4, 8, false},
	};

	clear();
	for (size_t i = 0; i < COUNT(rows); i++) {
		put(TREE, cells + rows[i].from, rows[i].size);
		ok(rows[i].good ? answers(TREE, 2400000000) : answers(NOBODY),
		   "%s: %s", locale, rows[i].what);
	}
}

/* All sources exist, then one less at a time. */
static void test_order(const char *locale)
{
	static const struct tree order[] = {
		{"", ETC, 2000000001, ETC, "2000000001"},
		{"", SETSPEED, 2000002000, SETSPEED, "2000002"},
		{"", SCALING, 2000003000, SCALING, "2000003"},
		{"", HARDWARE, 2000006000, HARDWARE, "2000006"},
		{"", TICK, 2000000004, TICK, "2000000004"},
		{"", TREE, 0x50505050, TREE, "PPPP"},
		{"", CPUINFO " cpu MHz", 2000000005, CPUINFO,
		 "cpu MHz : 2000.000005"},
		{"", TSC, 2000008000, TSC, "2000008"},
	};

	clear();
	for (size_t i = 0; i < COUNT(order); i++)
		put_text(order[i].path, order[i].text);
	for (size_t i = 0; i < COUNT(order); i++) {
		ok(answers(order[i].source, order[i].hz),
		   "%s: %s is number %zu", locale, order[i].path, i + 1);
		remove(place(order[i].path));
	}
}

/* The property is taken at any rate: a time base may be slow. */
static void test_timebase(const char *locale)
{
	static const struct {
		const char *what, *content;
		size_t size;
		uint64_t hz;
	} cells[] = {
		{"one cell", "\0\x3d\x09\0", 4, 4000000},
		{"two cells", "\0\0\0\1\0\0\0\0", 8, UINT64_C(1) << 32},
		{"three bytes", "\1\2\3", 3, 0},
		{"nine bytes", "123456789", 9, 0},
		{"32768 Hz", "\0\0\x80\0", 4, 32768},
	};
	static const struct {
		const char *what, *text;
		uint64_t hz;
	} lines[] = {
		{"POWER's line",
		 "processor\t: 0\nclock\t\t: 3550.000000MHz\n\n"
		 "timebase\t: 512000000\nplatform\t: pSeries\n",
		 512000000},
		{"no such line", "processor\t: 0\n", 0},
		{"a longer key", "timebases\t: 512000000\n", 0},
		{"a shorter key", "timebas\t: 512000000\n", 0},
		{"no number", "timebase\t: fast\n", 0},
		{"no colon", "timebase\n", 0},
	};
	uint64_t hz;
	size_t i;

	clear();
	ok(cpuc_stated_timebase(root) == 0, "%s: no time base", locale);
	for (i = 0; i < COUNT(cells); i++) {
		put(TIMEBASE, cells[i].content, cells[i].size);
		hz = cpuc_stated_timebase(root);
		ok(hz == cells[i].hz, "%s: time base, %s: %" PRIu64, locale,
		   cells[i].what, hz);
	}
	put_text(CPUINFO, "timebase : 1000000000\n");
	hz = cpuc_stated_timebase(root);
	ok(hz == 32768, "%s: the device tree's time base comes first", locale);
	remove(place(TIMEBASE));
	for (i = 0; i < COUNT(lines); i++) {
		put_text(CPUINFO, lines[i].text);
		hz = cpuc_stated_timebase(root);
		ok(hz == lines[i].hz, "%s: time base, %s: %" PRIu64, locale,
		   lines[i].what, hz);
	}
}

/* A point: path is this, and the last source knows. */
static void passed_over(const char *locale, const char *path, const char *what)
{
	ok(answers(TSC, 2000000000), "%s: %s is %s", locale, path, what);
}

static void test_unreadable(const char *locale, const char *path)
{
	put_text(path, "cpu MHz : 2000\n");
	if (chmod(place(path), 0) < 0)
		die(path);
	if (access(place(path), R_OK) == 0)
		skip("%s: unreadable %s: this user reads everything", locale,
		     path);
	else
		passed_over(locale, path, "unreadable");
}

/* Things that are no text file, at path. */
static void test_hostile(const char *locale, const char *path)
{
	static const char *const links[] = {"/dev/zero",          "/dev/null",
					    "/dev/tty",           "nowhere",
					    "cpucyclespersecond", "."};
	int fd;

	clear();
	put_text(TSC, "2000000");
	for (size_t i = 0; i < COUNT(links); i++) {
		if (symlink(links[i], place(path)) < 0)
			die(path);
		passed_over(locale, path, links[i]);
		remove(place(path));
	}
	if (mkdir(place(path), 0755) < 0)
		die(path);
	passed_over(locale, path, "a directory");
	remove(place(path));
	if (mkfifo(place(path), 0644) < 0)
		die(path);
	passed_over(locale, path, "a FIFO");
	fd = open(place(path), O_RDWR);
	passed_over(locale, path, "a FIFO with a writer");
	if (write(fd, "2000000000", 10) != 10)
		die(path);
	passed_over(locale, path, "a FIFO not written to the end");
	close(fd);
	remove(place(path));
	put(path, "", 0);
	passed_over(locale, path, "empty");
	put(path, "\xff\x00\x01 2000000000\x00\x80:\xfe\n\x00:\n", 21);
	passed_over(locale, path, "rubbish");
	put(path, "2000000000\0", 11);
	passed_over(locale, path, "a number and a NUL");
	test_unreadable(locale, path);
}

static char big[(2 << 20) + 100];

/* n times c, then tail, in path */
static void put_big(const char *path, int c, size_t n, const char *tail)
{
	memset(big, c, n);
	memcpy(big + n, tail, strlen(tail));
	put(path, big, n + strlen(tail));
}

static void test_long(const char *locale)
{
	clear();
	put_big(ETC, '0', 1000, "2000000000");
	ok(answers(ETC, 2000000000), "%s: a number of 1010 digits", locale);
	put_big(ETC, ' ', 2 << 20, "2000000000");
	ok(answers(NOBODY), "%s: a number after 2 MiB of blanks", locale);
	put_big(ETC, ' ', 2 << 20, "1");
	memcpy(big, "2000000000", 10);
	put(ETC, big, (2 << 20) + 1);
	ok(answers(NOBODY), "%s: two numbers, 2 MiB apart", locale);
	clear();
	put_big(CPUINFO, 'x', 2 << 20, "\ncpu MHz : 2000\n");
	ok(answers(NOBODY), "%s: a key after 2 MiB", locale);
	put_big(CPUINFO, 'x', 500000, "\ncpu MHz : 2000\n");
	ok(answers(CPUINFO " cpu MHz", 2000000000),
	   "%s: a key after a line of 500000 bytes", locale);
}

/* The lengths at which a line that follows meets the end of a buffer, whose
 * size is taken to be a multiple of 256. */
static size_t next_length(size_t n)
{
	return n % 256 == 2 ? n + 256 - 42 : n + 1;
}

/* Wherever the buffer ends, a number is all read or not at all, and the end
 * of a long line is no line. */
static void test_boundaries(void)
{
	size_t n, most = 4352, first = (1 << 20) - 40;

	clear();
	for (n = 0; n < most; n = next_length(n)) {
		put_big(CPUINFO, '\n', n, "cpu MHz : 2596.123");
		if (!answers(CPUINFO " cpu MHz", 2596123000))
			break;
	}
	ok(n >= most, "a key after any number of short lines");
	for (n = 1; n < most; n = next_length(n)) {
		put_big(CPUINFO, 'x', n,
			"cpu MHz : 1111.111\ncpu MHz : 2596.123\n");
		if (!answers(CPUINFO " cpu MHz", 2596123000))
			break;
	}
	ok(n >= most, "a key after a line of any length");
	for (n = first; n < first + 50; n++) {
		uint64_t hz;

		put_big(CPUINFO, '\n', n, "cpu MHz : 2596.123\n");
		hz = cpuc_stated_rate(root).hz;
		if (hz != 0 && hz != 2596123000)
			break;
	}
	ok(n == first + 50, "no half number at the limit");
}

/* Roots that just fit the path buffer, whose size is taken to be a multiple of
 * 256, and the first that does not. */
static void test_long_root(const char *locale)
{
	char saved[sizeof(root)];
	struct cpuc_rate rate = {2000000000, "", false};

	clear();
	put_text(ETC, "2000000000");
	strcpy(saved, root);
	while (strlen(root) + 2 < sizeof(root) && rate.hz == 2000000000) {
		strcat(root, "/");
		rate = cpuc_stated_rate(root);
	}
	ok(rate.hz == 0 && strcmp(rate.source, "unknown") == 0 &&
		   (strlen(root) + strlen(ETC)) % 256 == 0,
	   "%s: a root of %zu bytes is too long", locale, strlen(root));
	strcpy(root, saved);
}

static int lowest_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	if (fd < 0)
		die("/dev/null");
	close(fd);
	return fd;
}

static void test_all(const char *locale)
{
	int fd = lowest_descriptor();

	test_formats(locale);
	test_device_tree(locale);
	test_order(locale);
	test_timebase(locale);
	test_hostile(locale, ETC);
	test_hostile(locale, CPUINFO);
	test_hostile(locale, TREE);
	test_long(locale);
	test_long_root(locale);
	ok(lowest_descriptor() == fd, "%s: no descriptor stays open", locale);
}

static int comma(const char *name)
{
	return setlocale(LC_ALL, name) &&
	       strcmp(localeconv()->decimal_point, ",") == 0;
}

/* A locale with a decimal comma: an installed one, or one made here. */
static const char *comma_locale(void)
{
	static const char *const names[] = {
		"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "it_IT.UTF-8",
		"nl_NL.UTF-8", "pt_BR.UTF-8", "ru_RU.UTF-8", "de_DE",
	};
	char command[sizeof(base) + 80];

	for (size_t n = 0; n < COUNT(names); n++)
		if (comma(names[n]))
			return names[n];
	snprintf(command, sizeof(command),
		 "localedef -i de_DE -f UTF-8 '%s/de_DE.UTF-8' >/dev/null 2>&1",
		 base);
	setenv("LOCPATH", base, 1);
	return system(command) >= 0 && comma(names[0]) ? names[0] : NULL;
}

int main(void)
{
	const char *locale;

	alarm(300);
	make_base("sim_nominal");
	test_all("C");
	test_boundaries();
	locale = comma_locale();
	if (locale)
		test_all(locale);
	else
		skip("no locale with a decimal comma, and localedef made none");
	return done_testing();
}
