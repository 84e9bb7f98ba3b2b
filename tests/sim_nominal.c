/* SPDX-License-Identifier: 0BSD */
/* What the system states of the rates, on fake trees: one for every format, and
 * hostile ones; and which texts are numbers, which are exact. */
#include <config.h>

#include <inttypes.h>

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
	{"comments around it", ETC, 2400000000, ETC,
	 "# 3000000000\n#\n  # Hz\r\n\n2400000000 # \377 # 3\n# 3000000000"},
	{"nothing but comments", NOBODY, ETC, "# 2399987654\n#2399987654"},
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
	{"keys that only look alike", NOBODY, CPUINFO,
	 "Cpu MHz : 2000\nmax cpu MHz : 2000\ncpu MHz max : 2000\n"
	 "cpu  MHz : 2000\ncpu MHz 2000\ncpu MHz = 2000\n: 2000\n"
	 "model : cpu MHz : 2000\nclocking : 33.0MHz\nBogoMIPS : 50.00\n"},
	{"blanks around the key", CPUINFO " cpu MHz", 2000000000, CPUINFO,
	 "\n \t\n \tcpu MHz \t:2000 \t\r\n"},
};

static void test_formats(void)
{
	for (size_t i = 0; i < COUNT(trees); i++) {
		const struct tree *t = &trees[i];

		remove_all(root);
		put_text(t->path, t->text);
		ok(answers(t->source, t->hz), "%s", t->what);
	}
	remove_all(root);
	ok(answers(NOBODY), "a tree without files");
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
		{"seven bytes", "\0\0\0PPPP", 7, 0, 0},
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
	remove_all(root);
	put_text(CPUINFO, "clock\t\t: 3550.000000MHz\n\n"
			  "timebase\t: 512000000\nplatform\t: pSeries\n");
	ok(cpuc_stated_timebase() == 512000000, "the time base: POWER's line");
	put(TIMEBASE, "\0\0\x80\0", 4);
	ok(cpuc_stated_timebase() == 32768, "the device tree's comes first");
}

/* Things that are no text file, at path. */
static void test_hostile(const char *path)
{
	/* NULL: a FIFO. */
	static const char *const links[] = {"/dev/zero", "nowhere", ".", NULL};

	remove_all(root);
	put_text(TSC, "2000000");
	for (size_t i = 0; i < COUNT(links); i++) {
		if (links[i] != NULL ? symlink(links[i], place(path))
				     : mkfifo(place(path), 0644))
			die(path);
		ok(answers(TSC, 2000000000), "%s is %s", path,
		   links[i] != NULL ? links[i] : "a FIFO");
		remove(place(path));
	}
}

/* Wherever the buffers end, a number is all read or not at all, and the end of
 * a long line is no line. */
static void test_boundaries(void)
{
	char text[2000];
	size_t n, bad = 0;

	remove_all(root);
	for (n = 1; n < 1100; n++) {
		memset(text, 'x', n);
		strcpy(text + n, "cpu MHz : 1111.111\ncpu MHz : 2596.123\n");
		put_text(CPUINFO, text);
		bad += !answers(CPUINFO " cpu MHz", 2596123000);
	}
	ok(bad == 0, "a key after a line of any length");
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		uint64_t hz;
		int exp10;
		const char *unit;
	} numbers[] = {
		{" \t\n\v\f\r2399987654 \t\n\v\f\r", 2399987654, 0, ""},
		{"2399999999.9", 2399999999, 0, ""},
		/* the limits, exactly */
		{"1000000.0", 1000000, 0, ""},
		{"999999.9", 0, 0, ""},
		{"100000000000", 100000000000, 0, ""},
		{"100000000001", 0, 0, ""},
		{"100000.000001", 0, 6, ""},
		/* units */
		{"2596.1234567", 2596123456, 6, ""},
		{"3550.000000\t MHz ", 3550000000, 6, "MHz"},
		{"3550.000000", 0, 6, "MHz"},
		{"3550.000000mhz", 0, 6, "MHz"},
		{"3550.000000MHzz", 0, 6, "MHz"},
		{"3550.000000MHz", 0, 6, ""},
	};
	static const char *const refused[] = {
		/* would wrap around 2^63, 2^64 or 2^128 into the limits */
		"9223372039254775808", "18446744076109551616",
		"340282366920938463463374609831768211456",
		/* not one unsigned decimal number */
		"", ".", "2.4e9", "2.400.000.000", "2,4e9", "+2400000000",
		"-2400000000", "0x8f0d1800", "nan", "<unsupported>\n",
		"2400000000\n2400000000\n", "2400 000 000", "2.4GHz",
		/* a byte order mark, another blank */
		"\357\273\2772400000000", "\302\2402400000000"};

	for (size_t i = 0; i < COUNT(numbers); i++)
		ok(cpuc_parse_hz(numbers[i].text, numbers[i].exp10,
				 numbers[i].unit) == numbers[i].hz,
		   "number %zu is %" PRIu64 " Hz", i + 1, numbers[i].hz);
	for (size_t i = 0; i < COUNT(refused); i++)
		ok(cpuc_parse_hz(refused[i], 0, "") == 0,
		   "text %zu is no number", i + 1);
}

#if HAVE_COUNTER_AMD64_TSCCORE
/* x86's CPUID, in place of the real one. */
#include <cpuid.h>

static struct {
	unsigned max, vendor, leaf_15[3]; /* EAX, EBX, ECX */
	unsigned host_max, host_vendor, khz;
} cpu;

static unsigned pretended_max(unsigned leaf, unsigned *vendor)
{
	*vendor = leaf ? cpu.host_vendor : cpu.vendor;
	return leaf ? cpu.host_max : cpu.max;
}

static void pretended_leaf(unsigned leaf, unsigned *a, unsigned *b, unsigned *c,
			   unsigned *d)
{
	*a = leaf == 0x15 ? cpu.leaf_15[0] : leaf == 0x40000010 ? cpu.khz : 0;
	*b = leaf == 0x15 ? cpu.leaf_15[1] : 0;
	*c = leaf == 0x15 ? cpu.leaf_15[2] : 0;
	*d = 0;
}

#define __get_cpuid_max pretended_max
#undef __cpuid
#define __cpuid(leaf, a, b, c, d) pretended_leaf(leaf, &(a), &(b), &(c), &(d))
#include "../src/counters/amd64_tsccore.c"

static void test_cpuid(void)
{
	/* The crystal has 24 MHz, and the TSC 250 / 2 of it. */
	static const unsigned leaf_15[] = {2, 250, 24000000};
	const uint64_t crystals = 3000000000;

	memcpy(cpu.leaf_15, leaf_15, sizeof leaf_15);
	cpu.max = 0x14;
	cpu.vendor = SIGNATURE('G', 'e', 'n', 'u');
	ok(tsccore_stated() == 0, "x86: a CPU without leaf 0x15");
	cpu.max = 0x15;
	ok(tsccore_stated() == crystals, "x86: leaf 0x15");
	cpu.vendor = SIGNATURE('A', 'u', 't', 'h');
	ok(tsccore_stated() == 0, "x86: AMD has none");
	cpu.vendor = SIGNATURE('G', 'e', 'n', 'u');
	cpu.leaf_15[2] = 0;
	ok(tsccore_stated() == 0, "x86: one without the crystal's rate");
	cpu.leaf_15[2] = leaf_15[2];
	cpu.khz = 2596000;
	cpu.host_max = 0x40000001;
	ok(tsccore_stated() == crystals, "x86: a hypervisor with less");
	cpu.host_max = 0x40000010;
	ok(tsccore_stated() == 2596000000,
	   "x86: a hypervisor's leaf 0x40000010");
	cpu.host_vendor = SIGNATURE('K', 'V', 'M', 'K');
	ok(tsccore_emulated() == NULL, "x86: KVM's instructions are the CPU's");
	cpu.host_vendor = SIGNATURE('T', 'C', 'G', 'T');
	ok(tsccore_emulated() != NULL, "x86: an emulated CPU is told");
}
#else
#define test_cpuid() skip("x86: this is another CPU")
#endif

int main(void)
{
	alarm(300);
	make_base("sim_nominal");
	test_numbers();
	test_cpuid();
	test_formats();
	test_cells();
	test_orders();
	test_timebase();
	test_hostile(ETC);
	test_hostile(CPUINFO);
	test_hostile(TREE);
	test_boundaries();
	return done_testing();
}
