/* SPDX-License-Identifier: 0BSD */
/* stated_rate.c on fake trees: one for every format, in a locale with a decimal
 * comma too, and hostile ones. */
#include <config.h>

#include <inttypes.h>

#include "comma.h"
#include "faults/faults.h"
#include "tree.h"

#define CPUC_SYS_ROOT root
#include "../src/rate/stated_rate.c"
#include "../src/rate/textfile.c"

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

/* Whether the source speaks of the core. */
static bool of_core(const char *source)
{
	return strcmp(source, "unknown") != 0 && strcmp(source, TSC) != 0 &&
	       strcmp(source, CPUINFO " cpu MHz") != 0 &&
	       strcmp(source, CPUINFO " CPU MHz") != 0;
}

static uint64_t core_hz; /* measured */

static int answers(const char *source, uint64_t hz)
{
	/* Static for gcc's analyzer, which loses the flag of one on the stack.
	 */
	static struct cpuc_rate got;

	got = cpuc_stated_rate(core_hz);
	if (got.hz == hz && strcmp(got.source, source) == 0 &&
	    got.of_core == of_core(source))
		return 1;
	diag("%" PRIu64 " %s (%d) instead of %" PRIu64 " %s", got.hz,
	     got.source, got.of_core, hz, source);
	return 0;
}

#define NOBODY "unknown", 0

/* How each file is read is in test_orders(). */
static const struct tree {
	const char *what;
	const char *source;
	uint64_t hz;
	const char *path;
	const char *text;
} trees[] = {
	{"a comment after it", ETC, 2400000000, ETC,
	 "2400000000 # \303\251 \377 # 3\n"},
	{"lines of comment", ETC, 2400000000, ETC,
	 "# 3000000000\n#\n  # Hz\r\n\n2400000000\n# 3000000000\n#"},
	{"nothing but comments", NOBODY, ETC, "# 2399987654\n#2399987654"},
	{"a comment in the number", NOBODY, ETC, "24000 # 00000\n00000\n"},
	{"the first of two numbers", ETC, 2400000000, ETC,
	 "# 2\n2400000000\n3"},
	{"x86 cpuinfo", CPUINFO " cpu MHz", 2596120000, CPUINFO,
	 "processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\n"
	 "cpu MHz\t\t: 2596.120\ncache size\t: 512 KB\n\n"
	 "processor\t: 1\ncpu MHz\t\t: 3000.000\n"},
	{"LoongArch cpuinfo", CPUINFO " CPU MHz", 2500000000, CPUINFO,
	 "system type\t\t: generic-loongson-machine\n"
	 "CPU Family\t\t: Loongson-64bit\nCPU MHz\t\t\t: 2500.00\n"},
	{"POWER cpuinfo", CPUINFO " clock", 3550000000, CPUINFO,
	 "processor\t: 0\ncpu\t\t: POWER7\nclock\t\t: 3550.000000MHz\n"
	 "timebase\t: 512000000\n"},
	{"s390x cpuinfo", CPUINFO " cpu MHz static", 5200000000, CPUINFO,
	 "vendor_id       : IBM/S390\ncpu number      : 0\n"
	 "cpu MHz dynamic : 5100\ncpu MHz static  : 5200\n"},
	{"the first believable value", CPUINFO " cpu MHz", 2000000000, CPUINFO,
	 "cpu MHz\ncpu MHz :\ncpu MHz : unknown\ncpu MHz : 0.000\n"
	 "cpu MHz : 2000 : 3\ncpu MHz : 2000\ncpu MHz : 3000\n"},
	{"the first line with any key", CPUINFO " CPU MHz", 2000000000, CPUINFO,
	 "CPU MHz : 2000\ncpu MHz : 3000\n"},
	{"keys that only look alike", NOBODY, CPUINFO,
	 "Cpu MHz : 2000\nmax cpu MHz : 2000\ncpu MHz max : 2000\n"
	 "cpu  MHz : 2000\ncpu MHz 2000\ncpu MHz = 2000\n: 2000\n"
	 "model : cpu MHz : 2000\nclocking : 33.0MHz\nBogoMIPS : 50.00\n"},
	{"blanks around the key", CPUINFO " cpu MHz", 2000000000, CPUINFO,
	 "\n \t\n \tcpu MHz \t:2000 \t\r\n"},
};

static void test_formats(const char *locale)
{
	for (size_t i = 0; i < COUNT(trees); i++) {
		const struct tree *t = &trees[i];

		remove_all(root);
		put_text(t->path, t->text);
		ok(answers(t->source, t->hz), "%s: %s", locale, t->what);
	}
	remove_all(root);
	ok(answers(NOBODY), "%s: a tree without files", locale);
}

/* Properties of the device tree: the core's rate, and the time base's, which
 * may be slow. */
static void test_cells(void)
{
	static const struct {
		const char *what, *cells;
		size_t size;
		uint64_t rate, timebase;
	} rows[] = {
		{"one cell", "\x8f\x0d\x18\0", 4, 2400000000, 2400000000},
		{"two cells", "\0\0\0\1\0\0\0\0", 8, UINT64_C(1) << 32,
		 UINT64_C(1) << 32},
		{"32768 Hz", "\0\0\x80\0", 4, 0, 32768},
		{"2^40 Hz", "\0\0\1\0\0\0\0\0", 8, 0, UINT64_C(1) << 40},
		{"seven bytes", "\0\0\0PPPP", 7, 0, 0},
		{"three cells", "\0\0\0\0PPPP\0\0\0\0", 12, 0, 0},
	};

	remove_all(root);
	for (size_t i = 0; i < COUNT(rows); i++) {
		put(TREE, rows[i].cells, rows[i].size);
		put(TIMEBASE, rows[i].cells, rows[i].size);
		ok(answers(rows[i].rate ? TREE : "unknown", rows[i].rate) &&
			   cpuc_stated_timebase() == rows[i].timebase,
		   "a property of %s", rows[i].what);
	}
}

/* All sources exist, then one less at a time. With hz 0: one is passed over. */
static void test_order(const struct tree *order, size_t n)
{
	const struct tree *next;

	remove_all(root);
	for (size_t i = 0; i < n; i++)
		put_text(order[i].path, order[i].text);
	for (size_t i = 0; i < n; i++) {
		for (next = &order[i]; next->hz == 0;)
			next++;
		ok(answers(next->source, next->hz), "%s%s is number %zu",
		   order[i].what, order[i].path, i + 1);
		remove(place(order[i].path));
	}
}

static void test_orders(void)
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
	/* What a core that was measured cannot have is passed over, whatever it
	 * is, but for the administrator's word and a clock's rate. */
#define AT "a core of 3.1 GHz: "
	static const struct tree contradicted[] = {
		{AT, ETC, 400000000, ETC, "400000000"},
		{AT, SETSPEED, 0, SETSPEED, "2000000"},
		{AT, SCALING, 0, SCALING, "400000"},
		{AT, HARDWARE, 3000000000, HARDWARE, "3000000"},
		{AT, TICK, 0, TICK, "6300000000"},
		{AT, CPUINFO " clock", 0, CPUINFO, "clock : 850.0MHz"},
		{AT, TSC, 600000000, TSC, "600000"},
	};

	test_order(order, COUNT(order));
	core_hz = 3100000000;
	test_order(contradicted, COUNT(contradicted));
	core_hz = 0;
}

static void test_timebase(void)
{
	static const struct {
		const char *what, *text;
		uint64_t hz;
	} lines[] = {
		{"POWER's line",
		 "processor\t: 0\nclock\t\t: 3550.000000MHz\n\n"
		 "timebase\t: 512000000\nplatform\t: pSeries\n",
		 512000000},
		{"none", "timebases : 512000000\ntimebas : 512000000\n", 0},
		{"no number", "timebase\t: fast\n", 0},
	};

	remove_all(root);
	for (size_t i = 0; i < COUNT(lines); i++) {
		put_text(CPUINFO, lines[i].text);
		ok(cpuc_stated_timebase() == lines[i].hz, "the time base: %s",
		   lines[i].what);
	}
	put_text(CPUINFO, "timebase : 1000000000\n");
	put(TIMEBASE, "\0\0\x80\0", 4);
	ok(cpuc_stated_timebase() == 32768, "the device tree's comes first");
}

/* A point: path is this, and the last source knows. */
static void passed_over(const char *path, const char *what)
{
	ok(answers(TSC, 2000000000), "%s is %s", path, what);
	remove(place(path));
}

/* Things that are no text file, at path, where this text would be a rate. */
static void test_hostile(const char *path, const char *text)
{
	static const char *const links[] = {"/dev/zero", "nowhere", "."};
	size_t n = strlen(text);
	int fd;

	remove_all(root);
	put_text(TSC, "2000000");
	for (size_t i = 0; i < COUNT(links); i++) {
		if (symlink(links[i], place(path)) < 0)
			die(path);
		passed_over(path, links[i]);
	}
	if (mkfifo(place(path), 0644) < 0)
		die(path);
	passed_over(path, "a FIFO");
	if (mkfifo(place(path), 0644) < 0 ||
	    (fd = open(place(path), O_RDWR)) < 0 ||
	    write(fd, text, n) != (ssize_t)n)
		die(path);
	passed_over(path, "a FIFO not written to the end");
	close(fd);
	put(path, "\xff\x00\x01 2000000000\x00\x80:\xfe\n\x00:\n", 21);
	passed_over(path, "rubbish");
	put(path, "2000000000\0\n", 12);
	passed_over(path, "a number and a NUL");
}

static char big[(1 << 20) + 100];

/* n times c, then tail, in path */
static void put_big(const char *path, int c, size_t n, const char *tail)
{
	memset(big, c, n);
	memcpy(big + n, tail, strlen(tail));
	put(path, big, n + strlen(tail));
}

/* Wherever the buffers end, a number is all read or not at all, and the end of
 * a long line is no line. They are taken to be multiples of 256. */
static void test_boundaries(void)
{
	size_t n, bad = 0, limit = 1 << 20;
	uint64_t hz;

	remove_all(root);
	for (n = 1; n < 2400; n += n % 256 == 2 ? 256 - 42 : 1) {
		put_big(CPUINFO, '\n', n, "cpu MHz : 2596.123");
		bad += !answers(CPUINFO " cpu MHz", 2596123000);
		put_big(CPUINFO, 'x', n,
			"cpu MHz : 1111.111\ncpu MHz : 2596.123\n");
		bad += !answers(CPUINFO " cpu MHz", 2596123000);
	}
	ok(bad == 0, "a key after any number of short lines, or a long one");
	for (n = limit - 20; n <= limit; n++) {
		put_big(CPUINFO, 'x', n, "\ncpu MHz : 2596.123\n");
		hz = cpuc_stated_rate(0).hz;
		bad += hz != 0 && hz != 2596123000;
	}
	ok(bad == 0, "no half number at the limit");
}

int main(void)
{
	int fd;

	alarm(300);
	make_base("sim_nominal");
	fd = lowest_descriptor();
	test_formats("C");
	test_cells();
	test_orders();
	test_timebase();
	test_hostile(ETC, "2000000000");
	test_hostile(CPUINFO, "cpu MHz : 2000");
	test_hostile(TREE, "PPPP");
	test_boundaries();
	ok(lowest_descriptor() == fd, "no descriptor stays open");
	if (set_comma())
		test_formats("decimal comma");
	else
		skip("localedef makes no locale with a decimal comma");
	return done_testing();
}
