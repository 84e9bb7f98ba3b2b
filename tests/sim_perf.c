/* SPDX-License-Identifier: 0BSD */
/* Reading perf events, on a pretended kernel: pages that change between any two
 * accesses, counters of any width, several types of cores, registers that
 * others take, forks, signal handlers, and descriptors that somebody else has
 * closed. The sources are included, so that the changes come in the middle of
 * their reads. Settings are files in trees of their own. */
#define _GNU_SOURCE
#include <config.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
SKIPPED_MAIN("there is no <linux/perf_event.h>")
#else

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The time in nanoseconds. A cycle takes one. */
static uint64_t now_ns = UINT64_C(1000000000000);
#define cpuc_os_clock_ns sim_clock_ns
uint64_t sim_clock_ns(void);
uint64_t sim_clock_ns(void)
{
	return now_ns += 100;
}

static void kernel(void);
static void exists(const volatile void *page);
static char tree[64]; /* the root; path buffers are short */
#define CPUC_SYS_ROOT tree
#define CPUC_GET(page, field) (kernel(), exists(page), (page)->field)
#define CPUC_RDPMC(ecx) rdpmc(ecx)

#include "../src/perf/read.h"
#include "../src/system/syscalls.h"

/* An event of the pretended kernel's. */
struct event {
	struct perf_event_mmap_page *page;
	uint64_t id, count, start;
	uint32_t index; /* its register; 0: none */
	unsigned width, type;
	bool open, mapped, pinned, error, retires;
};

#define WORLD 120

static struct event world[WORLD];

/* Memory for their pages: each event's own, where it is not mapped in the place
 * of an old one; unmapped. */
static struct perf_event_mmap_page pages[WORLD], nowhere;
static bool gone[WORLD];

/* The kernel's state, and its ways; fresh() resets all of it. */
struct pretended_kernel {
	unsigned made, unmapped, asked_id, blanks;
	unsigned unverified;     /* reads of an event of unknown number */
	int refuse;              /* the result of opening, if not 0 */
	unsigned refuse_exclude; /* with any of these bits, if not 0 */
	int refuse_rest;         /* its result without them */
	unsigned openable;       /* so many more events */
	unsigned unmappable;     /* so many more pages do not map */
	uint32_t next_index, next_width;
	uint64_t next_start;
	unsigned here;     /* types of PMU that this core has, a bit each */
	bool refuse_types; /* only the generic event opens */
	bool shut_out;     /* users may not read registers */
	bool no_access;    /* the same, on a kernel that gives indexes */
	bool stat_a;       /* `perf stat -a`: events that are not pinned */
	bool all_taken;    /* by pinned events of whole CPUs */
	uint64_t ipc;      /* if not 1, instructions have another register */
	uint64_t access;   /* cycles that an access to a page takes */
	bool page_permits; /* registers are read while a page is mapped */
};
static const struct pretended_kernel plain = {.next_index = 32,
					      .next_width = 64,
					      .here = ~0u,
					      .openable = 1000,
					      .ipc = 1};
static struct pretended_kernel k;
/* The latest event. */
#define newest (world[k.made - 1])

static uint64_t raw(const struct event *e)
{
	uint64_t mask =
		e->width == 64 ? UINT64_MAX : (UINT64_C(1) << e->width) - 1;

	return (e->start + e->count) & mask;
}

static uint64_t extended(const struct event *e)
{
	return cpuc_sign_extend(raw(e), (64 - e->width) % 64);
}

static void publish(struct event *e)
{
	e->page->lock++;
	e->page->index = e->index;
	e->page->pmc_width = (uint16_t)e->width;
	e->page->cap_user_rdpmc = !k.no_access;
	e->page->offset = (int64_t)e->count;
	if (k.shut_out)
		e->page->index = 0;
	else if (e->index)
		e->page->offset = (int64_t)(e->count - extended(e));
	e->page->lock++;
}

/* Time passes for the events that are on a register. */
static void run(uint64_t cycles)
{
	unsigned i;

	now_ns += cycles;
	for (i = 0; i < k.made; i++) {
		struct event *e = &world[i];
		uint64_t before = extended(e), step;

		if (!e->index)
			continue;
		step = e->retires ? cycles * k.ipc : cycles;
		/* Events that are not pinned take turns. */
		e->count += k.stat_a && !e->pinned ? step / 2 : step;
		/* The counter's overflow is an interrupt. */
		if (!k.shut_out && extended(e) - before != step)
			publish(e);
	}
}

/* Reads of a register that users may not read, or that no event is on: SIGILL,
 * but for what changes at the read itself. */
static unsigned faults;

/* Nor is a page read that is mapped no longer. */
static void exists(const volatile void *page)
{
	const volatile struct perf_event_mmap_page *p = page;

	faults += p >= pages && p < pages + WORLD && gone[p - pages];
}

static bool readable(uint32_t index)
{
	unsigned i;

	for (i = 0; i < k.made && world[i].index != index; i++)
		;
	return i < k.made && !k.shut_out && !k.no_access;
}

static bool any_mapped(void)
{
	unsigned i;

	for (i = 0; i < k.made && !world[i].mapped; i++)
		;
	return i < k.made;
}

static uint64_t register_of(uint32_t index)
{
	unsigned i;

	faults += !k.page_permits && !readable(index);
	kernel();
	faults += k.page_permits && !any_mapped();
	for (i = k.made; i-- > 0;)
		if (world[i].index == index)
			return raw(&world[i]);
	return 0xdeadbeef;
}

__attribute__((unused)) static uint64_t rdpmc(uint32_t ecx)
{
	return register_of(ecx + 1);
}

/* A change, at the access that `in_steps` counts down to. */
static int in_steps;
static void (*happens)(void);
static unsigned accesses;

static void kernel(void)
{
	accesses++;
	run(k.access);
	if (in_steps > 0 && --in_steps == 0)
		happens();
}

/* A signal, at the system call that `calls_left` counts down to: just before
 * it, and, at the next one down, just after it. SIGUSR1 is blocked in changes,
 * so that its handler comes after them. SIGSYS, which a sandbox sends, is not:
 * its handler is in their midst. */
static const int both[] = {SIGUSR1, SIGSYS};
static int calls_left, sent;
static void (*handler)(void);

static void signals(void)
{
	if (calls_left > 0 && --calls_left == 0)
		raise(sent);
}

static void handles(int sig)
{
	(void)sig;
	handler();
}

static uint32_t register_for(const struct event *e)
{
	return k.next_index + (e->retires && k.ipc != 1);
}

/* The system calls, as src/perf/event.c makes them. Some must never be. */
static unsigned strange;

static long pretended_open(const struct perf_event_attr *attr)
{
	unsigned type =
		attr->type ? attr->type : (unsigned)(attr->config >> 32);
	unsigned flags = (attr->exclude_kernel ? CPUC_NO_KERNEL : 0) |
			 (attr->exclude_hv ? CPUC_NO_HV : 0) |
			 (attr->pinned ? CPUC_PINNED : 0);
	struct event *e;

	signals();
	errno = -(k.refuse_types && type != 0 ? -ENOENT : k.refuse_rest);
	if (k.refuse != 0 &&
	    (k.refuse_exclude == 0 || flags & k.refuse_exclude))
		errno = -k.refuse;
	if (k.openable == 0)
		errno = EMFILE;
	if (errno != 0)
		return -1;
	k.openable--;
	e = &world[k.made++];
	*e = (struct event){.id = k.made,
			    .page = &pages[k.made - 1],
			    .type = type,
			    .start = k.next_start,
			    .width = k.next_width,
			    .pinned = attr->pinned,
			    .retires = attr->type == 0 &&
				       (uint32_t)attr->config ==
					       PERF_COUNT_HW_INSTRUCTIONS,
			    .open = true};
	if (k.here >> type & 1 && !k.all_taken)
		e->index = register_for(e);
	else
		e->error = k.here >> type & 1 && attr->pinned;
	publish(e);
	signals();
	return 1000 + (long)(e - world);
}

static struct event *event_of(const void *page)
{
	unsigned i;

	for (i = 0; i < k.made; i++)
		if (page == world[i].page)
			return &world[i];
	return NULL;
}

/* The page's event, or the zeros in its place, go. */
static void lose_page(const void *page)
{
	struct event *e = event_of(page);

	if (e == NULL) {
		k.blanks--;
		return;
	}
	e->page = &nowhere;
	e->index = 0;
	e->mapped = false;
}

static void *pretended_mmap(void *place, size_t size, int prot, int flags,
			    int fd, long offset)
{
	struct event *e;

	signals();
	strange += size != (size_t)sysconf(_SC_PAGESIZE) || offset != 0 ||
		   prot != PROT_READ ||
		   (place != NULL) != !!(flags & MAP_FIXED);
	if (flags & MAP_ANONYMOUS) {
		memset(place, 0, sizeof(struct perf_event_mmap_page));
		lose_page(place);
		k.blanks++;
		signals();
		return place;
	}
	if (k.unmappable > 0) {
		k.unmappable--;
		/* Linux has unmapped what was there. */
		if (place != NULL)
			lose_page(place);
		return MAP_FAILED;
	}
	e = &world[fd - 1000];
	if (place != NULL) {
		if (gone[(struct perf_event_mmap_page *)place - pages])
			abort();
		lose_page(place);
		memset(place, 0, sizeof(struct perf_event_mmap_page));
		e->page = place;
		publish(e);
	}
	e->mapped = true;
	signals();
	return e->page;
}

static int pretended_munmap(void *page, size_t size)
{
	signals();
	strange += size != (size_t)sysconf(_SC_PAGESIZE);
	lose_page(page);
	gone[(struct perf_event_mmap_page *)page - pages] = true;
	k.unmapped++;
	signals();
	return 0;
}

static int pretended_id(int fd, uint64_t *id)
{
	signals();
	k.asked_id = (unsigned)fd;
	*id = world[fd - 1000].id;
	return world[fd - 1000].open ? 0 : -1;
}

static ssize_t pretended_read(int fd, void *count, size_t size)
{
	const struct event e = world[fd - 1000];

	k.unverified += k.asked_id != (unsigned)fd || !e.open;
	memcpy(count, &e.count, size);
	signals();
	return e.error ? 0 : (ssize_t)size;
}

static void pretended_close(int fd)
{
	struct event *e = &world[fd - 1000];

	e->open = false;
	if (!e->mapped)
		e->index = 0;
	signals();
}

static long pretended_call(long number, ...)
{
	const struct perf_event_attr *attr;
	int i, n[3];
	va_list a;
	long result;

	va_start(a, number);
	if (number == SYS_perf_event_open) {
		attr = va_arg(a, const struct perf_event_attr *);
		for (i = 0; i < 3; i++)
			n[i] = va_arg(a, int);
		strange += n[0] != 0 || n[1] != -1 || n[2] != -1 ||
			   va_arg(a, unsigned long) != PERF_FLAG_FD_CLOEXEC;
		result = pretended_open(attr);
	} else {
		n[0] = va_arg(a, int);
		strange += va_arg(a, unsigned long) != PERF_EVENT_IOC_ID;
		result = pretended_id(n[0], va_arg(a, uint64_t *));
	}
	va_end(a);
	return result;
}

#include "../src/perf/pmus.c"
#define syscall pretended_call
#define mmap pretended_mmap
#define munmap pretended_munmap
#define cpuc_sys_read pretended_read
#define cpuc_sys_close pretended_close
#include "../src/perf/event.c"
#include "../src/perf/thread_events.c"
#include "../src/perf/read.c"
#include "../src/perf/perf.c"
#include "tree.h"

/* A file of a PMU's. */
static void put_pmu(const char *pmu, const char *file, const char *text)
{
	char name[256];

	snprintf(name, sizeof name, CPUC_PMUS "%s/%s", pmu, file);
	put_text(name, text);
}

static struct cpuc_event_set one = {
	.reg = register_of,
	.access = {CPUC_PMUS "cpu/rdpmc", CPUC_PMUS "cpu_core/rdpmc"}};
static struct cpuc_event_set none_mapped;
static struct cpuc_event_set retired = {.counts = PERF_COUNT_HW_INSTRUCTIONS,
					.reg = register_of};

/* Every check is for cycles, and then for instructions. */
static void count_by(unsigned counts)
{
	one.counts = none_mapped.counts = counts;
}

#define own cpuc_perf_thread_own(&one)

static uint64_t read_set(struct cpuc_event_set *set)
{
	return (uint64_t)cpuc_perf_count(set, set->counts, register_of);
}

static uint64_t read_one(void)
{
	return read_set(&one);
}

/* How much a count grows while the thread runs for so many cycles. */
static uint64_t growth(uint64_t (*count)(void), uint64_t run_for)
{
	uint64_t before = count();

	run(run_for);
	return count() - before;
}

static struct event *mine(unsigned i)
{
	const struct cpuc_perf_event *e = &own->event[i];

	if (e->page == NULL)
		return e->id != 0 ? &world[e->fd - 1000] : NULL;
	return event_of((const void *)(uintptr_t)e->page);
}

/* So much later, and so often, that a better way is tried. */
static void count_much_later(void)
{
	int i;

	now_ns += 30000000;
	for (i = 0; i < 100; i++)
		read_one();
}

/* As it was before the first selection. */
static void unopened(struct cpuc_event_set *set)
{
	set->opened = 0;
	set->absent = false;
}

/* The thread has none of cycles, or of instructions, as this set counts. */
static void drop_events(const struct cpuc_event_set *set)
{
	if (cpuc_perf_thread_own(set)->set != NULL)
		cpuc_perf_close(cpuc_perf_thread_own(set)->set);
}

static void forget(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t;
	unsigned i;

	drop_events(set);
	t = cpuc_perf_thread_state(set);
	if (t == NULL)
		abort();
	t->base = t->last = t->unreadable = 0;
	for (i = 0; i < CPUC_CORES; i++)
		t->event[i].blank = NULL;
	t->page = NULL;
	unopened(set);
}

/* A thread that has not counted, in a system without settings. */
static void fresh(void)
{
	static unsigned trees;
	unsigned i;

	snprintf(tree, sizeof tree, "%.40s/%u", base, trees++);
	strcpy(root, tree);
	cpuc_thread_prepare();
	forget(&one);
	forget(&retired);
	memset(world, 0, sizeof world);
	memset(pages, 0, sizeof pages);
	memset(gone, 0, sizeof gone);
	for (i = 0; i < WORLD; i++)
		world[i].page = &pages[i];
	k = plain;
	unopened(&none_mapped);
}

static struct cpuc_slot it;

static int open_counter(struct cpuc_event_set *pmu)
{
	memset(&it, 0, sizeof it);
	return cpuc_perf_try(&it, pmu);
}

/* Several types of cores. */
static void on_core(unsigned type)
{
	unsigned i;

	k.here = 1u << type;
	for (i = 0; i < k.made; i++) {
		struct event *e = &world[i];
		uint32_t was = e->index;

		/* The kernel does not touch the pages of other types. */
		e->index = k.here >> e->type & 1 && (e->open || e->mapped)
				   ? register_for(e)
				   : 0;
		if (was != 0 || e->index != 0)
			publish(e);
	}
}

/* The thread moves to the next type of core, and to all of them and back. */
static unsigned core, first_core, core_types;

static void migrate(void)
{
	run(999);
	core = (core + 1) % core_types;
	on_core(first_core + core);
	run(3);
}

static void travel(void)
{
	unsigned i;

	for (i = 0; i < core_types; i++)
		migrate();
}

static const char *own_event(void)
{
	return one.counts == PERF_COUNT_HW_INSTRUCTIONS ? "events/inst_retired"
							: "events/cpu_cycles";
}

/* PMUs of hybrid x86 CPUs. */
static const char *const x86[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};

/* The PMUs of cores, by the types from 4 on; with or without a number for the
 * cycles event. */
static void put_pmus(const char *number, const char *const names[], unsigned n)
{
	char type[12];
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(type, sizeof type, "%u\n", 4 + i);
		put_pmu(names[i], "type", type);
		put_pmu(names[i], "cpus", "0-3,8-11\n");
		if (number != NULL)
			put_pmu(names[i], own_event(), number);
	}
	put_pmu("uncore_imc_20", "type", "20\n");
	put_pmu("uncore_imc_20", "cpumask", "0\n");
	put_pmu("software", "type", "1\n");
}

/* A tree of a CPU with so many types of cores. */
static void put_cores(unsigned types)
{
	snprintf(tree, sizeof tree, "%.40s/types%u", base, types);
	strcpy(root, tree);
	if (access(root, F_OK) != 0)
		put_pmus(NULL, x86, types);
}

/* A fresh thread on a CPU with so many types of cores. */
static void fresh_cores(unsigned types)
{
	fresh();
	if (types > 1)
		put_cores(types);
	first_core = types > 1 ? 4 : 0;
	core_types = types;
	core = 0;
	k.here = types > 1 ? 1u << first_core : ~0u;
}

/* And with an open counter. */
static void begin_cores(unsigned types)
{
	fresh_cores(types);
	open_counter(&one);
}

static void begin_one(void)
{
	begin_cores(1);
}

/* Changes that come in the middle of a read. */
static struct event *victim;

static void move_register(void)
{
	run(1000003);
	if (victim->index == 0)
		return;
	victim->index = victim->index == 7 ? 32 : 7;
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

static void shut_out(void)
{
	k.shut_out = true;
	publish(victim);
}

static unsigned left_open(void)
{
	unsigned i, n = 0;

	for (i = 0; i < k.made; i++)
		n += world[i].open + world[i].mapped;
	return n;
}

/* Descriptors that others have opened, with numbers that were the thread's. */
static unsigned foreign;
/* The events cannot be read any more. */
static bool lost;

static void close_descriptor(void)
{
	if (victim->id > WORLD)
		return;
	lost |= victim->open;
	victim->open = false;
}

static void reuse_descriptor(void)
{
	if (!victim->open || victim->id > WORLD)
		return;
	victim->id = WORLD + 1;
	victim->count += 1000000;
	foreign++;
	lost = true;
}

/* Others have all registers. One in error state cannot be read by its
 * descriptor. */
static void take_all(void)
{
	k.all_taken = true;
	victim->error = victim->pinned;
	lost |= victim->open && victim->error;
	take_away();
}

static void let_in(void)
{
	k.shut_out = k.all_taken = k.stat_a = false;
	k.openable = 1000;
	k.unmappable = 0;
	on_core(first_core + core);
}

/* A page that does not map takes the one that was in its place with it. */
static void let_few(void)
{
	k.openable = (unsigned)(rnd() % 4);
	k.unmappable = k.page_permits ? 0 : (unsigned)(rnd() % 4);
	k.stat_a = rnd() % 2;
}

static void (*const changes[])(void) = {
	move_register,    narrow,  take_away, bring_back,
	close_descriptor, migrate, travel,    take_all,
	shut_out,         let_in,  let_few,   reuse_descriptor};

static void something(void)
{
	if (own->set == NULL)
		return;
	victim = mine((unsigned)(rnd() % one.n));
	if (victim != NULL && k.here >> victim->type & 1)
		changes[rnd() % COUNT(changes)]();
}

/* The thread's latest count, and a time before it. */
static uint64_t latest, since;
static unsigned untrue;

/* A handler counts, in the midst of a change one more each time. It may come
 * for so long that pages are mapped where others were. */
static void something_and_count(void)
{
	uint64_t first, second;

	something();
	if (rnd() % 8 == 0) {
		read_one();
		if (rnd() % 2)
			let_in();
		count_much_later();
	}
	first = read_one();
	second = read_one();
	untrue += first < latest || second < first;
	if (own->set == NULL && cpuc_guard_inside)
		untrue += second != first + 1;
}

/* Other memory is at the addresses of the pages, and of what was kept in the
 * place of one. */
static void fork_here(void)
{
	unsigned i;

	if (own->set == NULL)
		return;
	*(uint32_t *)(uintptr_t)own->process = 0;
	for (i = 0; i < k.made; i++)
		if (world[i].mapped) {
			memset(world[i].page, 0x55, sizeof *world[i].page);
			gone[world[i].page - pages] = true;
			lose_page(world[i].page);
		}
	k.blanks = 0;
	lost = true;
}

static uint64_t count_of_all(void)
{
	uint64_t total = own->base;
	unsigned i;

	for (i = 0; i < one.n; i++)
		total += mine(i) != NULL ? mine(i)->count : 0;
	return total;
}

/* What can be known of it: at index 0, what it was when that was written. */
static uint64_t published(void)
{
	uint64_t total = count_of_all();
	struct event *e;
	unsigned i;

	for (i = 0; i < one.n; i++) {
		e = mine(i);
		if (e != NULL && e->mapped && e->page->index == 0)
			total -= e->count - (uint64_t)e->page->offset;
	}
	return total;
}

/* Counts. The result is one of this time, but for what two handlers add in the
 * midst of changes. */
static void count_truly(void)
{
	uint64_t was = latest, least = published(), most, now, begun = now_ns;
	unsigned made = k.made;

	now = read_one();
	in_steps = calls_left = 0;
	most = count_of_all();
	if (most < was)
		most = was;
	untrue += now - was > now_ns - since + 4 || k.unverified != 0;
	if (!lost && own->set != NULL)
		untrue += now < least || (k.made == made && now > most);
	latest = now;
	since = begun;
}

/* When all is well, the thread counts by mapped pages, one a type. */
static bool settles(void)
{
	let_in();
	lost = false;
	count_much_later();
	since = now_ns;
	latest = read_one();
	run(1000);
	return read_one() == latest + 1000 && *own->quick != 0 &&
	       newest.pinned && left_open() == one.n + foreign && k.blanks == 0;
}

/* A thread on a CPU of one to three types of cores, with events of any width,
 * just below a place where something could wrap: the register's highest bit or
 * its end, 32 or 48 bits. Perhaps it may read registers only while a page is
 * mapped. */
static void begin_any(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};
	uint64_t top, places[4];

	fresh_cores(1 + (unsigned)(rnd() % 3));
	foreign = 0;
	one.keep_page = k.page_permits = rnd() % 2;
	k.next_width = widths[rnd() % 4];
	top = UINT64_C(1) << (k.next_width - 1);
	places[0] = top;
	places[1] = 2 * top;
	places[2] = UINT64_C(1) << 32;
	places[3] = UINT64_C(1) << 48;
	k.next_start = places[rnd() % 4] - any(30);
	open_counter(&one);
	settles();
}

/* Places where a count is interrupted; most have three, some many. 0: none. */
static int any_place(void)
{
	return rnd() % 4 ? 0 : 1 + (int)(rnd() % (rnd() % 2 ? 3 : 24));
}

/* Changes before a count, at any access, and, in a handler, at any system
 * call. */
static void check_random(long cases)
{
	unsigned unsettled = 0;
	long i;

	handler = something_and_count;
	untrue = 0;
	k.made = WORLD;
	for (i = 0; i < cases; i++) {
		if (i % 512 == 0 || k.made > WORLD - 60)
			begin_any();
		run(any(30));
		if (rnd() % 64 == 0)
			fork_here();
		if (rnd() % 4 == 0)
			something();
		happens = rnd() % 2 ? something : something_and_count;
		in_steps = any_place();
		calls_left = any_place();
		sent = both[rnd() % 2];
		count_truly();
		if (rnd() % 32 == 0)
			unsettled += !settles();
	}
	one.keep_page = false;
	ok(untrue == 0,
	   "%ld random changes and counts: all are true, and none "
	   "is below an earlier one (%u)",
	   cases, untrue);
	ok(unsettled == 0, "when all is well, pinned events are mapped (%u)",
	   unsettled);
	ok(cpuc_sign_extend(0x800000000000, 16) == 0xffff800000000000 &&
		   cpuc_sign_extend(0x7fffffff, 32) == 0x7fffffff,
	   "sign extension");
}

static void check_not_at_once(void)
{
	unsigned made;

	begin_one();
	victim = mine(0);
	made = k.made;
	take_all();
	read_one();
	ok(k.made == made + 2 && left_open() == 1 && k.blanks == 1,
	   "after a page without a register, descriptors are tried alone");
	thread_events_ended(cpuc_perf_own, false);
	ok(k.blanks == 0, "and in the end nothing is in the page's place");
}

static void check_no_access(void)
{
	fresh();
	k.no_access = true;
	k.next_start = 0x123456789;
	ok(open_counter(&one) < 0 && left_open() == 0 && own->last < 1000,
	   "an index on a kernel without user access: no counter");
}

static void check_no_event(void)
{
	uint64_t grown;

	begin_one();
	drop_events(&one);
	k.refuse = -EMFILE;
	read_one();
	grown = growth(read_one, 5);
	ok(one.counts == PERF_COUNT_HW_INSTRUCTIONS
		   ? grown == 0
		   : grown >= 5 && grown < 1000,
	   "no event at all: time passes, and no instructions");
}

/* Without a state that can be changed. */
static void check_stateless(void)
{
	struct cpuc_perf_thread *states = cpuc_perf_own;
	uint64_t a;

	cpuc_guard_inside = true;
	cpuc_perf_own = cpuc_perf_nobody;
	ok(read_one() + read_one() == 2 && cpuc_perf_own == cpuc_perf_nobody,
	   "the first counts of a thread, in the midst of a change");
	cpuc_guard_inside = false;
	cpuc_perf_own = (struct cpuc_perf_thread *)cpuc_perf_no_memory;
	a = read_one();
	ok(one.counts == PERF_COUNT_HW_INSTRUCTIONS ? a == 0 : a == now_ns,
	   "without memory: time, or nothing");
	cpuc_perf_own = states;
}

static uint64_t read_none_mapped(void)
{
	return (uint64_t)cpuc_perf_slow(&none_mapped);
}

static void check_pinned_kept(void)
{
	int i;

	fresh();
	open_counter(&none_mapped);
	read_none_mapped();
	victim = &newest;
	for (i = 0; i < 1000; i++)
		read_none_mapped();
	ok(victim->pinned && victim == &newest,
	   "read(2): a pinned event, too, and the same for 1000 counts");
	fresh();
	k.refuse = -EINVAL;
	k.refuse_exclude = CPUC_PINNED;
	open_counter(&none_mapped);
	ok(growth(read_none_mapped, 10) == 10 && left_open() == 1,
	   "pinned events refused: one that is not");
}

static void work_and_count(void)
{
	run(1000);
	latest = read_one();
}

/* A thread ends, and counts in destructors before and after. */
static void check_end(void)
{
	uint64_t a, b;

	begin_one();
	run(1000);
	a = read_one();
	calls_left = 100;
	thread_events_ended(cpuc_perf_own, false);
	ok(left_open() == 0 && calls_left == 98,
	   "a thread's end leaves nothing open, by one system call");
	b = read_one();
	ok(b >= a && growth(read_one, 10) == 10 && calls_left == 93,
	   "destructors count on, after three system calls");
	handler = work_and_count;
	sent = SIGUSR1;
	calls_left = 1;
	thread_events_ended(cpuc_perf_own, false);
	run(10);
	ok(calls_left == 0 && left_open() == 1 && read_one() == latest + 10,
	   "a handler that counts comes after the end");
	thread_events_ended(cpuc_perf_own, true);
	ok(left_open() == 0 && *own->quick == 0 &&
		   cpuc_perf_own == cpuc_perf_nobody,
	   "nothing is left in the end");
	one.defer_unmap = true;
	begin_one();
	read_one();
	victim = mine(0);
	thread_events_ended(cpuc_perf_own, true);
	one.defer_unmap = false;
	ok(victim->mapped && own->set == NULL,
	   "but a page that an unmapping would take from others");
	take_away();
	one.defer_unmap = true;
	read_one();
	one.defer_unmap = false;
	ok(!victim->mapped, "until its event is on no register, and another is "
			    "opened");
}

/* Pages of ended threads are unmapped later. */
static void check_deferred(void)
{
	unsigned i, bad = 0;

	fresh();
	k.made = CPUC_PLACES + 6;
	for (i = 0; i < k.made; i++)
		world[i].mapped = true;
	world[0].page->index = 1;
	for (i = 0; i < 3; i++)
		thread_events_defer(world[i].page);
	for (i = 0; i < 3; i++) {
		thread_events_unmap_deferred();
		bad += k.unmapped != (i == 0 ? 1 : 2);
	}
	ok(bad == 0 && world[0].mapped && !world[1].mapped && !world[2].mapped,
	   "one at a time, and not one whose event is on a register");
	for (i = 3; i < k.made; i++)
		thread_events_defer(world[i].page);
	ok(k.unmapped == 6 && !newest.mapped && world[3].mapped,
	   "without a place a page is unmapped at once");
	/* As the kernel does in a child: no page is left to the next test. */
	memset(cpuc_process, 0, sizeof *cpuc_process);
}

static int travels;

static void travel_again(void)
{
	travel();
	in_steps = --travels > 0 ? 12 : 0;
}

/* A handler finds that the application has closed a descriptor. */
static void replace_and_work(void)
{
	world[own->event[0].fd - 1000].open = false;
	latest = read_one();
	run(1000);
}

static void check_cores(void)
{
	uint64_t now, total;
	unsigned made;

	ok(open_counter(&one) == 0 && one.n == core_types,
	   "an event for each of %u types of cores", core_types);
	read_one();
	made = k.made;
	travel();
	travels = 3;
	happens = travel_again;
	in_steps = 1;
	total = count_of_all();
	now = read_one();
	ok(travels == 0 && now >= total && now <= count_of_all() &&
		   k.made == made,
	   "pages are read again after a switch, and another");
	accesses = 0;
	read_one();
	ok(accesses == 3,
	   "a count reads a register, and one page's lock twice (%u)",
	   accesses);
	k.shut_out = true;
	on_core(first_core);
	read_one();
	handler = replace_and_work;
	sent = SIGSYS;
	calls_left = 2;
	ok(read_one() == latest + 1000 && calls_left == 0,
	   "replaced between two descriptors: read again");
}

/* One PMU more than those of no core. Where the system lists its PMUs, and none
 * is of cores, the kernel is not asked: a filter might kill. */
static const struct listed {
	const char *pmu, *type, *cpus;
	bool asked; /* for one event, the generic one */
} listed[] = {
	{"software", "4\n", NULL, false},
	{"cpum_cf", "9\n", NULL, true},
	{"armv7_cortex_a9", "9\n", NULL, true},
	{"arc_pct", "4\n", NULL, true},
	{"cpu", "8\n", NULL, true},
	{"armv8_pmuv3_0", "8\n", "0-3\n", true},
};

static void check_listed(const struct listed *l)
{
	int err;

	fresh();
	put_pmus(NULL, NULL, 0);
	put_pmu(l->pmu, "type", l->type);
	put_pmu(l->pmu, own_event(), "event=0x0011\n");
	if (l->cpus != NULL)
		put_pmu(l->pmu, "cpus", l->cpus);
	err = open_counter(&one);
	ok(l->asked ? err == 0 && k.made == 2 && one.n == 1 &&
			      one.event[0].type == 0 &&
			      one.event[0].config == one.counts
		    : err < 0 && k.made == 0 &&
			      strstr(it.trial.reason, "is visible here"),
	   "%s is listed: %s", l->pmu,
	   l->asked ? "one event, the generic one" : it.trial.reason);
}

static void check_none_listed(void)
{
	fresh();
	put_pmu("cpu", "type", "4\n");
	remove_all(place(CPUC_PMUS "cpu"));
	ok(open_counter(&one) == 0,
	   "nothing at all is listed: the kernel is asked");
	fresh();
	put_pmus(NULL, x86, 2);
	put_pmu("cpu", "type", "4\n");
	ok(open_counter(&one) == 0 && one.n == 1,
	   "beside a PMU called cpu, no other is looked at");
}

static void check_hybrid(void)
{
	static const char *const arm[] = {
		"armv8_cortex_a520", "armv8_cortex_a720", "armv8_cortex_a725",
		"armv8_cortex_x4"};
	static const char *const many[] = {
		"pmu_0", "pmu_1", "pmu_2", "pmu_3", "pmu_4",  "pmu_5",
		"pmu_6", "pmu_7", "pmu_8", "pmu_9", "pmu_10", "pmu_11"};
	unsigned i;

	for (i = 0; i < COUNT(listed); i++)
		check_listed(&listed[i]);
	check_none_listed();
	fresh_cores(3);
	check_cores();
	ok(one.event[0].type == PERF_TYPE_HARDWARE &&
		   (uint32_t)one.event[0].config == one.counts,
	   "the generic event with a PMU's type");
	fresh();
	put_pmus("event=0x0011\n", arm, 4);
	ok(open_counter(&one) == 0 && one.n == 4 && one.event[1].type == 5 &&
		   one.event[1].config == 0x11,
	   "the number of the PMU's own event");
	fresh_cores(2);
	k.refuse_types = true;
	k.here |= 1;
	ok(open_counter(&one) == 0 && one.n == 1 &&
		   one.event[0].config == one.counts,
	   "an old kernel: the generic event alone");
	fresh();
	put_pmus(NULL, many, 12);
	ok(open_counter(&one) == 0 && one.n == CPUC_CORES,
	   "of 12 types of cores, the first are counted");
}

static void cancel_self(void)
{
	pthread_cancel(pthread_self());
}

static void *opening(void *arg)
{
	int old;

	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	read_one();
	return arg;
}

/* A thread that is cancelled at any of the system calls of its first count
 * leaves nothing open. */
static void check_cancelled(void)
{
	unsigned i, bad = 0;
	pthread_t id;
	int at;

	if (SANITIZED) {
		skip("sanitizers are in the way of cancelled threads");
		return;
	}
	for (at = 1; at <= 10; at++) {
		begin_cores(2);
		drop_events(&one);
		handler = cancel_self;
		sent = SIGSYS;
		calls_left = at;
		if (pthread_create(&id, NULL, opening, NULL) != 0)
			return;
		pthread_join(id, NULL);
		bad += calls_left > 0 || left_open() > 0;
		calls_left = 0;
		for (i = 0; i < k.made; i++)
			bad += world[i].mapped;
	}
	ok(bad == 0,
	   "cancelled in its first count, a thread leaves nothing "
	   "open (%u)",
	   bad);
}

static void check_owners(void)
{
	uint64_t a;

	fresh();
	open_counter(&one);
	open_counter(&none_mapped);
	run(100);
	a = read_one();
	ok((uint64_t)cpuc_perf_slow(&none_mapped) >= a &&
		   own->set == &none_mapped && !world[0].mapped,
	   "another counter's event replaces the first's");
	cpuc_perf_close(&one);
	ok(own->set == &none_mapped, "which another's close leaves");
	cpuc_perf_close(&none_mapped);
	ok(own->set == NULL && !newest.open, "and its own close does not");
}

/* The counter does not open: the reason and the hint that a user gets. */
static void check_reason(struct cpuc_event_set *set, const char *reason,
			 const char *hint)
{
	const int got = open_counter(set);
	const char *gives = it.trial.hint ? it.trial.hint : "";

	ok(got < 0 && !strcmp(it.trial.reason, reason) && !strcmp(gives, hint),
	   "%s; %s", it.trial.reason, gives);
}

#define OPEN "run cpucycles-open as root"

/* Refusals of the kernel. */
static const struct refusal {
	int err, exclude, rest; /* of k.refuse... */
	const char *paranoid;
	const char *reason, *hint;
} refusals[] = {
	{-EACCES, 0, 0, "4\n",
	 "perf_event_paranoid is 4, and 2 or less is needed", OPEN},
	{-EINVAL, CPUC_NO_KERNEL, -EACCES, "2\n",
	 "perf_event_paranoid is 2, and 1 or less is needed",
	 "run sysctl kernel.perf_event_paranoid=1 as root"},
	{-ENOENT, 0, 0, "2\n", NULL, "the host would have to offer one"},
	{-EPERM, 0, 0, "2\n", "perf_event_open: EPERM (container?)",
	 "its seccomp profile must allow this call"},
	{-ENOSYS, 0, 0, "2\n", "perf_event_open: ENOSYS (container?)",
	 "its seccomp profile must allow this call"},
	{-ENOSYS, 0, 0, "no number\n",
	 "perf_event_open: ENOSYS (kernel without perf events?)", ""},
	{-EMFILE, 0, 0, "2\n", "perf_event_open: errno 24", ""},
};

static void check_refused(const struct refusal *r)
{
	const char *no_pmu =
		one.counts == PERF_COUNT_HW_INSTRUCTIONS
			? "no PMU that counts instructions is visible here "
			  "(virtual machine?)"
			: "no PMU is visible here (virtual machine?)";

	fresh();
	k.refuse = r->err;
	k.refuse_exclude = (unsigned)r->exclude;
	k.refuse_rest = r->rest;
	put_text("/proc/sys/kernel/perf_event_paranoid", r->paranoid);
	check_reason(&one, r->reason ? r->reason : no_pmu, r->hint);
}

/* The PMU cannot leave these out. */
static void check_less(unsigned exclude, unsigned opened)
{
	fresh();
	k.refuse = -EINVAL;
	k.refuse_exclude = exclude;
	ok(open_counter(&one) == 0 && one.opened == 1 + opened,
	   "a PMU that cannot leave out %#x (%s)", exclude, it.trial.reason);
}

static void check_reasons(void)
{
	size_t i;

	for (i = 0; i < COUNT(refusals); i++)
		check_refused(&refusals[i]);
	check_less(CPUC_NO_KERNEL | CPUC_NO_HV, 0);
	check_less(CPUC_NO_HV, CPUC_NO_KERNEL);
	fresh();
	k.next_index = 0;
	put_pmu("cpu", "type", "4\n");
	put_pmu("cpu", "rdpmc", "0\n");
	check_reason(&one, CPUC_PMUS "cpu/rdpmc is 0", OPEN);
	put_pmu("cpu", "rdpmc", "2\n");
	one.outside = 2;
	check_reason(&one, CPUC_PMUS "cpu/rdpmc is 2",
		     "reads by perf events need it to be 1");
	one.outside = 0;
	ok(k.made == 0 && own->set == NULL, "and no event is opened");
	put_pmu("cpu", "rdpmc", "1\n");
	check_reason(&one, "index 0: the kernel has no counter to give", "");
	ok(!newest.open && own->set == NULL, "and nothing stays open");
}

/* Cycles and instructions of one thread, three a cycle. */
struct pair {
	uint64_t cycles, instructions;
};

static struct pair read_pair(void)
{
	long long p[2];

	cpuc_perf_pair(&one, &retired, p);
	return (struct pair){(uint64_t)p[0], (uint64_t)p[1]};
}

/* The instructions from `a` to `b`, less the expected number. */
static long long pair_error(struct pair a, struct pair b)
{
	return (long long)((b.instructions - a.instructions) -
			   k.ipc * (b.cycles - a.cycles));
}

static void begin_pair(unsigned types)
{
	begin_cores(types);
	k.ipc = 3;
	open_counter(&retired);
	read_pair();
}

static void handler_works(void)
{
	run(5000);
}

static struct event *instructions(void)
{
	return event_of((const void *)(uintptr_t)cpuc_perf_thread_own(&retired)
				->event[0]
				.page);
}

static void check_pair_changes(const char *what, unsigned types,
			       void (*change)(void))
{
	struct pair a, b;
	int step, bad = 0;

	for (step = 1; step < 60; step++) {
		begin_pair(types);
		k.access = 10;
		a = read_pair();
		victim = instructions();
		happens = change;
		in_steps = step;
		b = read_pair();
		bad += pair_error(a, b) != 0;
		bad += in_steps > 0 ? 0 : b.cycles < a.cycles;
		in_steps = 0;
	}
	ok(bad == 0, "a pair is of one instant: %s (%d)", what, bad);
}

static void check_pair(void)
{
	struct pair a, b;

	begin_pair(1);
	ok(cpuc_perf_opened(&one) && cpuc_perf_opened(&retired) &&
		   !cpuc_perf_opened(&none_mapped),
	   "a pair's events are open");
	a = read_pair();
	run(1000);
	b = read_pair();
	ok(b.cycles - a.cycles == 1000 && pair_error(a, b) == 0 &&
		   left_open() == 2 && *own->quick != 0 &&
		   *cpuc_perf_thread_own(&retired)->quick != 0,
	   "a pair in user space");
	check_pair_changes("a handler in between", 1, handler_works);
	check_pair_changes("another register", 1, move_register);
	check_pair_changes("another type of core", 2, migrate);
	check_pair_changes("other types of cores and back", 2, travel);
	begin_pair(1);
	victim = mine(0);
	shut_out();
	victim = instructions();
	shut_out();
	a = read_pair();
	run(700);
	b = read_pair();
	ok(b.cycles - a.cycles == 700 && pair_error(a, b) == 0 &&
		   k.unverified == 0,
	   "a pair by descriptors");
}

#if HAVE_COUNTER_AMD64_PERFPMCFF
#include "../src/counters/amd64_perfpmcff.c"
#include "../src/counters/amd64_perfpmc.c"
#include "../src/counters/amd64_pmcff.c"

#define FIXED 0x40000000u

/* Indexes as in the page: RDPMC's operand plus 1. */
static void check_x86_index(uint32_t index, const char *what)
{
	const struct cpuc_counter *all[] = {&cpuc_counter_amd64_perfpmcff,
					    &cpuc_counter_amd64_perfpmc,
					    &cpuc_instructions_amd64_perfpmc};
	uint64_t a;
	int i, bad = 0;

	for (i = 0; i < 3; i++) {
		count_by(all[i]->events->counts);
		fresh();
		unopened(all[i]->events);
		k.next_index = index;
		k.next_width = 48;
		k.next_start = UINT64_C(0xffff80000000);
		/* This CPU may lack the fixed counter. */
		cpuc_perf_try(&it, all[i]->events);
		if (i == 0)
			bad += (all[i]->open(&it) == 0) != (index > FIXED);
		a = (uint64_t)all[i]->read();
		run(12345);
		bad += (uint64_t)all[i]->read() - a != 12345;
		cpuc_perf_close(all[i]->events);
		bad += own->set != NULL;
	}
	count_by(PERF_COUNT_HW_CPU_CYCLES);
	ok(bad == 0, "x86: %s", what);
}

/* As users may read registers as long as a page is mapped. */
static void check_x86_last_page(void)
{
	fresh();
	unopened(&cpuc_x86_cycle_events);
	cpuc_perf_try(&it, &cpuc_x86_cycle_events);
	amd64_perfpmcff_read();
	victim = mine(0);
	take_all();
	amd64_perfpmcff_read();
	ok(victim->mapped && left_open() == 2,
	   "x86: a page without a register stays beside a descriptor");
	fresh();
	unopened(&cpuc_x86_cycle_events);
	cpuc_perf_try(&it, &cpuc_x86_cycle_events);
	amd64_perfpmcff_read();
	cpuc_perf_close(&cpuc_x86_cycle_events);
	ok(left_open() == 0, "but none whose event is on a register");
	fresh();
	k.shut_out = true;
	unopened(&cpuc_x86_cycle_events);
	ok(cpuc_perf_try(&it, &cpuc_x86_cycle_events) < 0 && left_open() == 0,
	   "nor one that users could not read");
}

static void check_pmcff(const char *reason)
{
	ok(amd64_pmcff_open(&it) < 0 && strstr(it.trial.reason, reason),
	   "amd64-pmcff: %s", it.trial.reason);
}

static void check_x86(void)
{
	check_x86_index(FIXED + 2, "fixed counter 1");
	check_x86_index(1, "counter 0");
	check_x86_last_page();
	fresh();
	put_pmu("cpu_atom", "rdpmc", "1\n");
	put_pmu("cpu_core", "rdpmc", "1\n");
	check_pmcff(CPUC_PMUS "cpu_core/rdpmc is 1");
	fresh();
	check_pmcff("no PMU");
	unopened(&cpuc_x86_cycle_events);
	put_pmu("cpu", "rdpmc", "2\n");
	check_pmcff("perf events");
	ok(left_open() == 0, "which it closes");
	amd64_perfpmcff_read();
	check_pmcff("perf events");
	ok(own->set != NULL, "but not if the thread had them before");
}
#else
static void check_x86(void)
{
	skip("not 64-bit x86");
}
#endif

static void check_all(long cases)
{
	check_random(cases);
	check_not_at_once();
	check_no_access();
	check_no_event();
	check_stateless();
	check_pinned_kept();
	check_end();
	check_deferred();
	check_hybrid();
	check_cancelled();
	check_owners();
	check_reasons();
}

int main(void)
{
	long cases = cases_begin(200000);

	signal(SIGUSR1, handles);
	signal(SIGSYS, handles);
	setenv("TMPDIR", "/tmp", 1);
	make_base("sim_perf");

	check_all(cases);
	diag("instructions");
	fresh();
	count_by(PERF_COUNT_HW_INSTRUCTIONS);
	check_all(cases);
	fresh();
	count_by(PERF_COUNT_HW_CPU_CYCLES);
	check_pair();
	check_x86();
	ok(faults == 0, "no register is read that users may not read (%u)",
	   faults);
	ok(strange == 0, "all calls are for this thread alone, and its events");
	return done_testing();
}

#endif
