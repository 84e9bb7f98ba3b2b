/* SPDX-License-Identifier: 0BSD */
/* Reading perf events, on a pretended kernel: pages that change between any two
 * accesses, counters of any width, two types of cores, forks, signal
 * handlers, and descriptors that somebody else has closed. The sources are
 * included, so that the changes come in the middle of their reads. */
#include <config.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
int main(void)
{
	skip_all("there is no <linux/perf_event.h>");
}
#else

#include <errno.h>
#include <setjmp.h>
#include <string.h>

static void kernel(void);
#define CPUC_GET(page, field) (kernel(), (page)->field)
#define CPUC_RDPMC(ecx) rdpmc(ecx)

#include "../src/perf/read.h"

/* An event of the pretended kernel's. */
struct event {
	struct perf_event_mmap_page page;
	uint64_t id, config, count, start;
	uint32_t index; /* its register; 0: none */
	unsigned width;
	bool open, mapped;
};

#define WORLD 80

static struct event world[WORLD];
static unsigned made, asked_id;
static int refuse;              /* what opening gives, if not 0 */
static unsigned refuse_exclude; /* with any of these bits */
static int refuse_rest;         /* what opening gives without them */
static bool unmappable;
static uint32_t next_index = 32, next_width = 64;
static uint64_t next_start;
static bool alive_types[3] = {true, true, true}; /* by the PMU's type */

static uint64_t raw(const struct event *e)
{
	uint64_t mask =
		e->width == 64 ? UINT64_MAX : (UINT64_C(1) << e->width) - 1;

	return (e->start + e->count) & mask;
}

static void publish(struct event *e)
{
	e->page.lock++;
	e->page.index = e->index;
	e->page.pmc_width = (uint16_t)e->width;
	e->page.cap_user_rdpmc = 1;
	e->page.offset = (int64_t)e->count;
	if (e->index)
		e->page.offset = (int64_t)(e->count -
					   cpuc_sign_extend(raw(e), e->width));
	e->page.lock++;
}

/* Time passes for the events that are on a register. */
static void run(uint64_t cycles)
{
	unsigned i;

	for (i = 0; i < made; i++) {
		struct event *e = &world[i];
		uint64_t before = cpuc_sign_extend(raw(e), e->width);

		if (!e->index)
			continue;
		e->count += cycles;
		e->page.time_enabled += cycles;
		e->page.time_running += cycles;
		/* The counter's overflow is an interrupt. */
		if (cpuc_sign_extend(raw(e), e->width) - before != cycles)
			publish(e);
	}
}

static uint64_t register_of(uint32_t index)
{
	unsigned i;

	kernel();
	for (i = made; i-- > 0;)
		if (world[i].index == index)
			return raw(&world[i]);
	return 0xdeadbeef;
}

__attribute__((unused)) static uint64_t rdpmc(uint32_t ecx)
{
	return register_of(ecx + 1);
}

/* What happens, at the access that `in_steps` counts down to. */
static int in_steps;
static void (*happens)(void);

static void kernel(void)
{
	if (in_steps > 0 && --in_steps == 0)
		happens();
}

/* A signal handler, at the system call that `calls_left` counts down to: just
 * before it, and, at the next one down, just after it. */
static int calls_left;
static void (*handler)(void);

static void signals(void)
{
	if (calls_left > 0 && --calls_left == 0)
		handler();
}

/* The system calls. */
int cpuc_event_open(uint64_t config, uint64_t config1, unsigned exclude)
{
	struct event *e;
	int fd;

	(void)config1;
	signals();
	if (refuse != 0 && (refuse_exclude == 0 || exclude & refuse_exclude))
		return refuse;
	if (refuse_rest != 0)
		return refuse_rest;
	fd = 1000 + (int)made;
	e = &world[made++];
	*e = (struct event){.id = made,
			    .config = config,
			    .start = next_start,
			    .index = alive_types[config >> 32] ? next_index : 0,
			    .width = next_width,
			    .open = true};
	e->page.lock = 2 * made;
	publish(e);
	signals();
	return fd;
}

void cpuc_event_close(int fd)
{
	signals();
	world[fd - 1000].open = false;
	signals();
}

cpuc_page *cpuc_event_map(int fd)
{
	signals();
	if (unmappable)
		return NULL;
	world[fd - 1000].mapped = true;
	signals();
	return &world[fd - 1000].page;
}

static struct event *event_of(cpuc_page *page)
{
	unsigned i;

	for (i = 0; i < made; i++)
		if (page == &world[i].page)
			return &world[i];
	abort();
}

static unsigned unmapped;

void cpuc_event_unmap(cpuc_page *page)
{
	struct event *e;

	if (page == NULL)
		return;
	signals();
	e = event_of(page);
	e->mapped = false;
	unmapped++;
	signals();
}

bool cpuc_event_blank(cpuc_page *page)
{
	struct event *e = event_of(page);

	signals();
	memset(&e->page, 0, sizeof e->page);
	e->index = 0;
	e->mapped = false;
	signals();
	return true;
}

uint64_t cpuc_event_id(int fd)
{
	signals();
	asked_id = (unsigned)fd;
	return world[fd - 1000].open ? world[fd - 1000].id : 0;
}

static unsigned unverified;

bool cpuc_event_read(int fd, uint64_t *count)
{
	unverified += asked_id != (unsigned)fd || !world[fd - 1000].open;
	*count = world[fd - 1000].count;
	return true;
}

static struct {
	const char *path;
	long number;
} files[8];

bool cpuc_event_setting(const char *path, long *number)
{
	int i;

	for (i = 0; i < 8 && files[i].path; i++)
		if (!strcmp(path, files[i].path)) {
			*number = files[i].number;
			return true;
		}
	return false;
}

#include "../src/perf/thread.c"
#include "../src/perf/read.c"
#include "../src/perf/open.c"

static struct cpuc_pmu one = {.reg = register_of};
static struct cpuc_pmu two = {.reg = register_of,
			      .core_types = {"cpu_core", "cpu_atom"},
			      .access_file = "rdpmc",
			      .access_name = "rdpmc"};
static struct cpuc_pmu none_mapped;

static uint64_t read_one(void)
{
	return (uint64_t)cpuc_perf_count(&one, register_of, 32);
}

static uint64_t read_two(void)
{
	return (uint64_t)cpuc_perf_count(&two, register_of, 0);
}

static struct event *mine(unsigned i)
{
	return event_of(cpuc_perf_own->page[i]);
}

/* A thread that has not counted. */
static void fresh(void)
{
	cpuc_thread_prepare();
	cpuc_perf_drop(NULL);
	cpuc_perf_thread_state();
	cpuc_perf_own->base = cpuc_perf_own->last = 0;
	cpuc_perf_own->blank[0] = cpuc_perf_own->blank[1] = NULL;
	made = 0;
	memset(world, 0, sizeof world);
	refuse = 0;
	unmappable = false;
	unverified = 0;
	next_index = 32;
	next_width = 64;
	next_start = 0;
	one.opened = two.opened = none_mapped.opened = 0;
	memset(files, 0, sizeof files);
}

static struct cpuc_slot it;

static int open_counter(struct cpuc_pmu *pmu)
{
	int err;

	memset(&it, 0, sizeof it);
	err = cpuc_perf_open(&it, pmu);
	return err;
}

/* Changes that come in the middle of a read. */
static struct event *victim;

static void move_register(void)
{
	run(1000003);
	victim->index = victim->index == 32 ? 7 : 32;
	victim->start += 0x123456789;
	publish(victim);
}

static void narrow(void)
{
	run(1003);
	victim->width = victim->width == 64 ? 40 : 64;
	publish(victim);
}

static void take_away(void)
{
	run(77);
	victim->index = 0;
	publish(victim);
}

static void bring_back(void)
{
	victim->index = 32;
	victim->start = 5;
	publish(victim);
	run(13);
}

static void check_changes(const char *what, void (*change)(void), bool page)
{
	uint64_t before, got, count;
	int step, bad = 0;

	for (step = 1; step <= 16; step++) {
		fresh();
		next_start = 0xfffff00;
		open_counter(&one);
		read_one();
		victim = mine(0);
		run(123456);
		if (change == bring_back)
			take_away();
		before = victim->count;
		happens = change;
		in_steps = step;
		if (page) {
			cpuc_page_read(&victim->page, register_of, &got);
		} else {
			before += cpuc_perf_own->base;
			got = read_one();
		}
		in_steps = 0;
		count = victim->count + (page ? 0 : cpuc_perf_own->base);
		if (got != before && got != count) {
			bad++;
			diag("step %d: %llu, neither %llu nor %llu", step,
			     (unsigned long long)got,
			     (unsigned long long)before,
			     (unsigned long long)count);
		}
	}
	ok(bad == 0, "%s at any access of %s", what,
	   page ? "a page" : "a count");
}

static void check_seqlock(void)
{
	check_changes("another register", move_register, true);
	check_changes("another width", narrow, true);
	check_changes("index becomes 0", take_away, true);
	check_changes("index comes back", bring_back, true);
	check_changes("another register", move_register, false);
	check_changes("another width", narrow, false);
}

/* Values across the places where something could wrap. */
static void check_width(unsigned width, uint64_t start)
{
	static const uint64_t steps[] = {
		1, 0x7ffffffe, 1, 1, 0x7fffffff, 1, 0xffffffff, 3, 0x80000000};
	uint64_t total = 0, base;
	unsigned i, j, bad = 0;

	fresh();
	next_width = width;
	next_start = start;
	open_counter(&one);
	base = read_one() - mine(0)->count;
	for (j = 0; j < 20; j++)
		for (i = 0; i < sizeof steps / sizeof *steps; i++) {
			uint64_t step = steps[i];

			/* At most half of the counter between interrupts. */
			if (width == 32 && step > 0x7fffffff)
				step = 0x7fffffff;
			else if (width > 32)
				step <<= (width - 34 < 15 ? width - 34 : 15);
			run(step);
			total += step;
			bad += read_one() - base != total;
		}
	ok(bad == 0, "%u bits from %#llx, %llu cycles", width,
	   (unsigned long long)start, (unsigned long long)total);
}

static void check_widths(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};
	unsigned i;

	for (i = 0; i < 4; i++) {
		uint64_t top = UINT64_C(1) << (widths[i] - 1);

		check_width(widths[i], 0);
		check_width(widths[i], top - 5);
		check_width(widths[i], top);
		check_width(widths[i], 2 * top - 3);
	}
	check_width(64, UINT64_C(0xfffffff0));
	check_width(64, (UINT64_C(1) << 48) - 9);
	ok(cpuc_sign_extend(0x800000000000, 48) == 0xffff800000000000 &&
		   cpuc_sign_extend(0x7fffffff, 32) == 0x7fffffff,
	   "sign extension");
}

static void close_descriptor(void)
{
	victim->open = false;
}

/* A thread with an event of any width, about to wrap or not. */
static void any_event(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};

	fresh();
	next_width = widths[rnd() % 4];
	next_start = (UINT64_C(1) << (next_width - 1 - rnd() % 2)) - any(30);
	open_counter(&one);
	read_one();
}

/* Whatever happens at any access of a read: the count is one of its time. */
static void check_random(long cases)
{
	static void (*const changes[])(void) = {
		move_register, narrow, take_away, bring_back, close_descriptor};
	uint64_t last = 0, now, least, most;
	long i, bad = 0, back = 0;
	unsigned was;

	for (i = 0; i < cases; i++) {
		if (i % 4096 == 0 || made > 60) {
			any_event();
			last = 0;
		}
		run(any(30));
		was = made;
		victim = &world[made - 1];
		least = cpuc_perf_own->base + victim->count;
		happens = changes[rnd() % 5];
		in_steps = rnd() % 4 ? 0 : (int)(rnd() % 24);
		now = read_one();
		in_steps = 0;
		most = cpuc_perf_own->base + victim->count;
		back += now < last;
		/* Another event knows nothing of the last microseconds. */
		bad += made == was && (now < least || now > most);
		bad += unverified != 0;
		last = now;
	}
	ok(back == 0, "%ld random changes and reads: never back", cases);
	ok(bad == 0, "%ld random changes and reads: every count is true",
	   cases);
}

/* Index 0: the kernel is asked, and the page when it is back. */
static void check_index_zero(void)
{
	uint64_t a, b;
	int i;

	fresh();
	open_counter(&one);
	run(100);
	a = read_one();
	ok(!mine(0)->open && *cpuc_perf_own->quick,
	   "a mapped event keeps no descriptor");
	victim = mine(0);
	take_away();
	b = read_one();
	ok(b >= a && cpuc_perf_own->event[0].id != 0 && !victim->mapped,
	   "index 0: a descriptor instead");
	run(500);
	ok(read_one() - b == 500, "counts by it");
	cpuc_event_close(cpuc_perf_own->event[0].fd);
	a = read_one();
	ok(a >= b + 500 && unverified == 0,
	   "closed by the application: another, and nothing is read");
	run(30000000);
	for (i = 0; i < 200; i++)
		b = read_one();
	ok(*cpuc_perf_own->quick != 0, "then by the page again");
	ok(b - a == 30000000, "with no cycle lost (%llu)",
	   (unsigned long long)(b - a));
}

static void check_unmappable(void)
{
	uint64_t a;

	fresh();
	open_counter(&one);
	fresh();
	one.opened = 1;
	one.events = 1;
	unmappable = true;
	a = read_one();
	run(5);
	ok(read_one() - a == 5 && unverified == 0, "a page that does not map");
	refuse = -EMFILE;
	world[0].open = false;
	a = read_one();
	while (read_one() == a)
		;
	ok(read_one() > a, "no event at all: time passes");
}

static void check_children(void)
{
	uint64_t a, b;
	unsigned was;

	fresh();
	open_counter(&one);
	run(1000);
	a = read_one();
	victim = mine(0);
	was = made;
	/* What the page's address holds is not the page. */
	*(uint32_t *)(uintptr_t)cpuc_perf_own->process = 0;
	memset(&victim->page, 0x55, sizeof victim->page);
	b = read_one();
	ok(b >= a && made == was + 1 && mine(0) == &world[made - 1],
	   "a forked child opens its own and goes on from there");
	ok(victim->page.lock == 0x55555555, "and leaves that memory alone");
	run(7);
	ok(read_one() - b == 7, "and counts");
}

/* Handlers, at any system call of a thread's first count, and of the count that
 * finds index 0. */
static uint64_t handler_last;
static unsigned handler_bad;

static void handler_counts(void)
{
	uint64_t now;
	int i;

	for (i = 0; i < 3; i++) {
		run(1000);
		now = read_one();
		handler_bad += now <= handler_last;
		handler_last = now;
	}
}

static unsigned left_open(void)
{
	unsigned i, n = 0;

	for (i = 0; i < made; i++)
		n += world[i].open + world[i].mapped;
	return n;
}

static void begin_opening(bool first)
{
	fresh();
	open_counter(&one);
	run(1000);
	handler_last = read_one();
	if (first) {
		cpuc_perf_drop(NULL);
	} else {
		victim = mine(0);
		take_away();
	}
}

static void check_handlers(bool first, const char *what)
{
	unsigned bad = 0, left;
	uint64_t now;
	int step;

	handler = handler_counts;
	begin_opening(first);
	read_one();
	left = left_open();
	for (step = 1;; step++) {
		begin_opening(first);
		handler_bad = 0;
		calls_left = step;
		now = read_one();
		if (calls_left > 0)
			break;
		handler_bad += now < handler_last;
		run(1000);
		handler_bad += read_one() - now != 1000;
		handler_bad += left_open() != left || unverified != 0;
		if (handler_bad != 0)
			diag("at call %d: %u mistakes", step, handler_bad);
		bad += handler_bad;
	}
	calls_left = 0;
	ok(bad == 0 && step > 6, "handlers in %d places of %s", step - 1, what);
}

static jmp_buf out;

static void handler_jumps(void)
{
	longjmp(out, 1);
}

/* The thread counts one by one for a second, and then cycles again. */
static void check_abandoned(bool first, const char *what)
{
	static volatile int step;
	static volatile unsigned bad;
	uint64_t now;

	handler = handler_jumps;
	bad = 0;
	for (step = 1;; step++) {
		begin_opening(first);
		calls_left = step;
		if (setjmp(out) == 0) {
			read_one();
			break;
		}
		run(1);
		now = read_one();
		bad += now <= handler_last;
		cpuc_perf_own->busy_since -= ABANDONED_NS;
		bad += read_one() < now;
		now = read_one();
		run(1000);
		bad += read_one() - now != 1000;
		if (bad != 0) {
			diag("at call %d", step);
			break;
		}
	}
	calls_left = 0;
	ok(bad == 0 && step > 6, "%d places where %s is abandoned", step - 1,
	   what);
}

/* A thread that ends, and counts in destructors before and after. */
static void check_end(void)
{
	uint64_t a, b;

	fresh();
	open_counter(&one);
	run(1000);
	a = read_one();
	perf_thread_ended(cpuc_perf_own, false);
	ok(left_open() == 0, "a thread's end leaves nothing open");
	b = read_one();
	run(10);
	ok(b >= a && read_one() == b + 10, "destructors count on");
	perf_thread_ended(cpuc_perf_own, true);
	ok(left_open() == 0 && *cpuc_perf_own->quick == 0 &&
		   cpuc_perf_own == &nobody,
	   "nothing is left in the end");
}

/* Pages of ended threads. */
static void check_deferred(void)
{
	unsigned i;

	fresh();
	made = CPUC_PLACES + 6;
	for (i = 0; i < made; i++)
		world[i].mapped = true;
	unmapped = 0;
	perf_thread_unmap_deferred();
	ok(unmapped == 0, "with nothing deferred, nothing is unmapped");
	world[0].page.index = 1;
	for (i = 0; i < 3; i++)
		perf_thread_defer(&world[i].page);
	ok(unmapped == 0, "deferring unmaps nothing");
	perf_thread_unmap_deferred();
	ok(unmapped == 1 && world[0].mapped,
	   "one at a time, and not one whose event is on a register");
	perf_thread_unmap_deferred();
	perf_thread_unmap_deferred();
	ok(unmapped == 2 && world[0].mapped && !world[1].mapped &&
		   !world[2].mapped,
	   "the others once each");
	world[0].page.index = 0;
	perf_thread_unmap_deferred();
	perf_thread_unmap_deferred();
	ok(unmapped == 3 && !world[0].mapped, "that one too, when it is off");
	for (i = 3; i < made; i++)
		perf_thread_defer(&world[i].page);
	ok(unmapped == 6 && !world[made - 1].mapped && world[3].mapped,
	   "without a place a page is unmapped at once");
	/* As the kernel does in a child. */
	memset(cpuc_process, 0, sizeof *cpuc_process);
	perf_thread_unmap_deferred();
	ok(unmapped == 6, "a child forgets its parent's pages");
}

/* Two types of cores. */
static void on_core(unsigned type)
{
	unsigned i;

	for (i = 0; i < made; i++) {
		world[i].index = world[i].config >> 32 == type ? 32 : 0;
		publish(&world[i]);
	}
}

static unsigned core;

static void migrate(void)
{
	run(999);
	core = core == 1 ? 2 : 1;
	on_core(core);
	run(3);
}

static void hybrid_files(void)
{
	files[0].path = CPUC_PMUS "cpu_core/type";
	files[0].number = 1;
	files[1].path = CPUC_PMUS "cpu_atom/type";
	files[1].number = 2;
	alive_types[0] = alive_types[2] = false;
}

static void check_hybrid(void)
{
	uint64_t last = 0, now, total;
	int i, bad = 0, back = 0;

	fresh();
	hybrid_files();
	core = 1;
	ok(open_counter(&two) == 0 && two.events == 2 &&
		   two.config[1] == UINT64_C(2) << 32,
	   "one event a type of cores (%s)", it.reason);
	last = read_two();
	for (i = 0; i < 2000; i++) {
		total = mine(0)->count + mine(1)->count;
		happens = migrate;
		in_steps = i % 17;
		now = read_two();
		in_steps = 0;
		back += now < last;
		bad += now - cpuc_perf_own->base < total ||
		       now - cpuc_perf_own->base >
			       mine(0)->count + mine(1)->count;
		last = now;
		run(10);
	}
	ok(back == 0, "the sum never goes back");
	ok(bad == 0, "and is always a true count");
	ok(mine(0)->count > 10000 && mine(1)->count > 10000,
	   "both have counted (%llu, %llu)", (unsigned long long)mine(0)->count,
	   (unsigned long long)mine(1)->count);
	/* Both off: the kernel knows. */
	on_core(3);
	now = read_two();
	ok(now >= last && unverified == 0 && cpuc_perf_own->event[1].id != 0,
	   "neither on a register: two descriptors");
	on_core(2);
	run(40);
	ok(read_two() - now == 40, "by which counts go on");
	alive_types[0] = alive_types[2] = true;
}

static void check_owners(void)
{
	uint64_t a;

	fresh();
	none_mapped.opened = 0;
	open_counter(&one);
	open_counter(&none_mapped);
	run(100);
	a = read_one();
	ok((uint64_t)cpuc_perf_slow(&none_mapped) >= a &&
		   cpuc_perf_own->pmu == &none_mapped && !world[0].mapped,
	   "another counter's event replaces the first's");
	cpuc_perf_close(&one);
	ok(cpuc_perf_own->pmu == &none_mapped, "which another's close leaves");
	cpuc_perf_close(&none_mapped);
	ok(cpuc_perf_own->pmu == NULL && !world[made - 1].open,
	   "and its own close does not");
}

static void refused_with(int err, unsigned exclude, long paranoid,
			 const char *text, const char *hint)
{
	fresh();
	refuse = err;
	refuse_exclude = exclude;
	files[0].path = "/proc/sys/kernel/perf_event_paranoid";
	files[0].number = paranoid;
	ok(open_counter(&one) < 0 && !strcmp(it.reason, text) &&
		   !strcmp(it.hint, hint),
	   "%s; %s", it.reason, it.hint);
	refuse_exclude = 0;
}

static void check_reasons(void)
{
	refused_with(-EACCES, 0, 4,
		     "perf_event_paranoid is 4, and 2 or less is needed",
		     "run cpucycles-open as root");
	refuse_rest = -EACCES;
	refused_with(-EINVAL, CPUC_NO_KERNEL, 2,
		     "perf_event_paranoid is 2, and 1 or less is needed",
		     "run sysctl kernel.perf_event_paranoid=1 as root");
	refuse_rest = 0;
	refused_with(-ENOENT, 0, 2, "no PMU is visible here (virtual machine?)",
		     "the host would have to offer one");
	refused_with(-EPERM, 0, 2,
		     "perf_event_open: Operation not permitted (container?)",
		     "its seccomp profile must allow this call");
	refused_with(-EMFILE, 0, 2, "perf_event_open: Too many open files", "");
	fresh();
	refuse = -EINVAL;
	refuse_exclude = CPUC_NO_KERNEL | CPUC_NO_HV;
	ok(open_counter(&one) == 0 && one.opened == 1,
	   "a PMU that cannot leave the kernel out (%s)", it.reason);
	fresh();
	refuse = -EINVAL;
	refuse_exclude = CPUC_NO_HV;
	ok(open_counter(&one) == 0 && one.opened == 1 + CPUC_NO_KERNEL,
	   "one that knows no hypervisor");
	refuse_exclude = 0;
	fresh();
	next_index = 0;
	files[0].path = "rdpmc";
	files[0].number = 0;
	ok(open_counter(&two) < 0 && !strcmp(it.reason, "rdpmc is 0") &&
		   !strcmp(it.hint, "run cpucycles-open as root"),
	   "%s; %s", it.reason, it.hint);
	ok(!world[made - 1].open && cpuc_perf_own->pmu == NULL,
	   "and nothing stays open");
	files[0].number = 1;
	ok(open_counter(&two) < 0 &&
		   !strcmp(it.reason,
			   "index 0: the kernel has no counter to give"),
	   "%s", it.reason);
}

#if HAVE_COUNTER_AMD64_PERFPMCFF
#include "../src/counters/x86.c"
#include "../src/counters/amd64_perfpmcff.c"
#include "../src/counters/amd64_perfpmc.c"
#include "../src/counters/amd64_pmcff.c"

/* Indexes as the kernel gives them: RDPMC's operand and 1. */
static void check_x86_index(uint32_t index, const char *what)
{
	const struct cpuc_counter *both[] = {&cpuc_counter_amd64_perfpmcff,
					     &cpuc_counter_amd64_perfpmc};
	uint64_t a;
	int i, bad = 0;

	for (i = 0; i < 2; i++) {
		fresh();
		cpuc_x86_pmu.opened = 0;
		next_index = index;
		next_width = 48;
		next_start = UINT64_C(0xffff80000000);
		/* This CPU may lack the fixed counter. */
		cpuc_perf_open(&it, both[i]->pmu);
		a = (uint64_t)both[i]->read();
		run(12345);
		bad += (uint64_t)both[i]->read() - a != 12345;
		victim = mine(0);
		victim->index ^= 3;
		publish(victim);
		run(5);
		bad += (uint64_t)both[i]->read() - a != 12350;
		cpuc_perf_close(both[i]->pmu);
		bad += cpuc_perf_own->pmu != NULL;
	}
	ok(bad == 0, "x86: %s, and moved to another register", what);
}

static void check_x86(void)
{
	check_x86_index(0x40000002, "fixed counter 1");
	check_x86_index(1, "counter 0");
	check_x86_index(6, "counter 5");
	fresh();
	hybrid_files();
	cpuc_x86_pmu.opened = 0;
	ok(cpuc_perf_open(&it, &cpuc_x86_pmu) == 0 &&
		   cpuc_x86_pmu.events == 2 && *cpuc_perf_own->quick == 0,
	   "x86: two types of cores");
	cpuc_perf_close(&cpuc_x86_pmu);
	alive_types[0] = alive_types[2] = true;
	cpuc_x86_pmu.opened = 0;
	fresh();
	ok(amd64_pmcff_open(&it) == -ENOENT, "amd64-pmcff: %s", it.reason);
	files[0].path = CPUC_PMUS "cpu/rdpmc";
	files[0].number = 1;
	ok(amd64_pmcff_open(&it) == -EACCES, "amd64-pmcff: %s", it.reason);
	files[0].number = 2;
	ok(amd64_pmcff_open(&it) == -EBUSY, "amd64-pmcff: %s", it.reason);
}
#else
static void check_x86(void)
{
	skip("not 64-bit x86");
}
#endif

int main(void)
{
	long cases = cases_begin(200000);

	check_seqlock();
	check_widths();
	check_random(cases);
	check_index_zero();
	check_unmappable();
	check_children();
	check_handlers(true, "an opening");
	check_handlers(false, "a count at index 0");
	check_abandoned(true, "an opening");
	check_abandoned(false, "a count at index 0");
	check_end();
	check_deferred();
	check_hybrid();
	check_owners();
	check_reasons();
	check_x86();
	fresh();
	return done_testing();
}

#endif
