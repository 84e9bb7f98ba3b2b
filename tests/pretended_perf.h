/* SPDX-License-Identifier: 0BSD */
/* A pretended kernel with perf events: pages that change between any two
 * accesses, counters of any width, several types of cores, and signals at any
 * system call. src/perf/ is included, so that the changes come in the middle of
 * its reads. A test that has files of settings defines CPUC_SYS_ROOT. */
#ifndef PRETENDED_PERF_H
#define PRETENDED_PERF_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cases.h"

static void kernel(void);
__attribute__((unused)) static void exists(const volatile void *page);
/* A test whose changes come at any instruction knows by KERNEL() when the
 * kernel runs. */
#ifndef KERNEL
#define CPUC_GET(page, field) (kernel(), exists(page), (page)->field)
#define KERNEL(call) call
#endif

/* The time in nanoseconds. A cycle takes one. */
static uint64_t now_ns = UINT64_C(1000000000000);
#define cpuc_os_clock_ns sim_clock_ns
uint64_t sim_clock_ns(void);
uint64_t sim_clock_ns(void)
{
	return KERNEL(now_ns += 100);
}

/* The first calls, which select a counter. */
#define cpuc_first first_cycles
#define cpuc_first_instructions first_instructions
#define cpuc_first_on_core first_on_core

#include "../src/perf/read.h"
#include "../src/system/syscalls.h"
#include "../src/thread/memory.h"

#ifndef CPUC_SYS_ROOT
#define CPUC_SYS_ROOT "/nowhere"
#endif
#include "../src/rate/textfile.c"

struct event {
	struct perf_event_mmap_page *page;
	uint64_t id, count, start;
	uint64_t enabled, running; /* ns */
	uint32_t index;            /* its register; 0: none */
	unsigned width, type, excludes;
	bool open, mapped, pinned, error, retires;
};

#define WORLD 120

static struct event world[WORLD], *described[WORLD]; /* by descriptor */

/* Memory for their pages: each event's own, where it is not mapped in the place
 * of an old one; unmapped. */
static struct perf_event_mmap_page pages[WORLD], nowhere;
static bool gone[WORLD];

/* The kernel's state, and its ways; fresh() resets all of it. */
struct pretended_kernel {
	unsigned made, asked_id, mapped, blanks;
	unsigned unverified;     /* reads of an event of unknown number */
	int refuse;              /* the result of opening, if not 0 */
	unsigned refuse_exclude; /* with any of these bits, if not 0 */
	int refuse_rest;         /* its result without them */
	unsigned refused;        /* so many times so far */
	unsigned openable;       /* so many more events */
	unsigned unmappable;     /* so many more pages do not map */
	void *zeros_at;          /* if not NULL: where zeros are mapped */
	bool no_ids;             /* are told */
	uint32_t next_index, next_width;
	uint64_t next_start;
	unsigned here;        /* types of PMU that this core has, a bit each */
	unsigned refuse_type; /* that of another PMU, if not 0 */
	bool shut_out;        /* users may not read registers */
	bool no_access;       /* the same, on a kernel that gives indexes */
	bool all_taken;       /* by pinned events of whole CPUs */
	uint64_t ipc;         /* if not 1, instructions have another register */
	uint64_t access;      /* cycles that an access to a page takes */
	bool page_permits;    /* registers are read while a page is mapped */
	unsigned wrong;       /* PMUs that do not count, a bit each type, but */
	unsigned percent;     /* of the cycles, */
	unsigned a_read;      /* and so many a read of the register */
};
static struct pretended_kernel k;
/* The latest event. */
#define newest (world[k.made - 1])

static uint64_t raw(const struct event *e)
{
	return (e->start + e->count) & UINT64_MAX >> (64 - e->width);
}

/* As the kernel takes it: signed. */
static uint64_t extended(const struct event *e)
{
	const uint64_t sign = UINT64_C(1) << (e->width - 1);

	return (raw(e) ^ sign) - sign;
}

static void publish(struct event *e)
{
	e->page->lock++;
	e->page->index = k.shut_out ? 0 : e->index;
	e->page->pmc_width = (uint16_t)e->width;
	e->page->cap_user_rdpmc = !k.no_access;
	e->page->offset =
		(int64_t)(e->count - (e->page->index != 0 ? extended(e) : 0));
	e->page->lock++;
}

/* Time passes for the events that are on a register. */
static void run(uint64_t cycles)
{
	struct event *e;

	now_ns += cycles;
	for (e = world; e < world + k.made; e++) {
		uint64_t before = extended(e), step;

		e->enabled += e->open || e->mapped ? cycles : 0;
		if (!e->index)
			continue;
		e->running += cycles;
		step = e->retires ? cycles * k.ipc : cycles;
		if (k.wrong >> e->type & 1)
			step = step * k.percent / 100;
		e->count += step;
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

static struct event *on_register(uint32_t index)
{
	struct event *e = &world[k.made];

	while (e > world)
		if ((--e)->index == index)
			return e;
	return NULL;
}

static uint64_t register_of(uint32_t index)
{
	const struct event *e = on_register(index);

	faults += !k.page_permits && (!e || k.shut_out || k.no_access);
	kernel();
	faults += k.page_permits && k.mapped == 0;
	e = on_register(index);
	if (e != NULL && k.wrong >> e->type & 1)
		world[e - world].count += k.a_read;
	return e ? raw(e) : 0xdeadbeef;
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
static int calls_left, sent;
static unsigned crossings; /* two a system call, or one */

static void signals(void)
{
	crossings++;
	if (calls_left > 0 && --calls_left == 0)
		raise(sent);
}

static uint32_t register_for(const struct event *e)
{
	return k.next_index + (e->retires && k.ipc != 1);
}

/* The system calls, as src/perf/event.c makes them. Some must never be. */
static unsigned strange;

static int refusal(unsigned type, unsigned flags)
{
	if (k.openable == 0)
		return -EMFILE;
	if (k.refuse != 0 &&
	    (k.refuse_exclude == 0 || flags & k.refuse_exclude))
		return k.refuse;
	return type != 0 && type == k.refuse_type ? -ENOENT : k.refuse_rest;
}

static long pretended_SYS_perf_event_open(const struct perf_event_attr *attr,
					  int pid, int cpu, int group,
					  unsigned long fd_flags)
{
	unsigned type =
		attr->type ? attr->type : (unsigned)(attr->config >> 32);
	unsigned flags = (attr->exclude_kernel ? CPUC_NO_KERNEL : 0) |
			 (attr->exclude_hv ? CPUC_NO_HV : 0) |
			 (attr->pinned ? CPUC_PINNED : 0);
	bool here = k.here >> type & 1;
	struct event *e;
	int fd, err;

	signals();
	strange += pid != 0 || cpu != -1 || group != -1 ||
		   fd_flags != PERF_FLAG_FD_CLOEXEC ||
		   attr->read_format != (PERF_FORMAT_TOTAL_TIME_ENABLED |
					 PERF_FORMAT_TOTAL_TIME_RUNNING);
	err = refusal(type, flags);
	if (err != 0) {
		k.refused++;
		errno = -err;
		return -1;
	}
	k.openable--;
	e = &world[k.made++];
	*e = (struct event){.id = k.made - 1,
			    .page = &pages[k.made - 1],
			    .type = type,
			    .start = k.next_start,
			    .width = k.next_width,
			    .pinned = attr->pinned,
			    .excludes = flags & ~CPUC_PINNED,
			    .error = attr->pinned && here && k.all_taken,
			    .retires = attr->type == 0 &&
				       (uint32_t)attr->config ==
					       PERF_COUNT_HW_INSTRUCTIONS};
	if (here && !k.all_taken)
		e->index = register_for(e);
	publish(e);
	for (fd = 0; described[fd] != NULL && described[fd]->open; fd++)
		;
	described[fd] = e;
	e->open = true;
	signals();
	return fd;
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
	k.mapped--;
}

/* What is mapped, if not zeros. In a hole another thread may have a page. Linux
 * unmaps what was in its place even where it fails. */
static void *pretended_map(struct perf_event_mmap_page *old, struct event *e)
{
	const bool fails = e != NULL && k.unmappable > 0;
	bool *empty = old != NULL ? &gone[old - pages] : NULL;

	if (e == NULL && k.zeros_at != NULL) {
		k.blanks += k.zeros_at != MAP_FAILED;
		return k.zeros_at;
	}
	if (old != NULL) {
		if (!*empty)
			lose_page(old);
		else
			strange += e != NULL;
		*empty = fails;
		memset(old, 0, sizeof *old);
	}
	if (fails) {
		k.unmappable--;
		return MAP_FAILED;
	}
	if (e == NULL) {
		k.blanks++;
		return old;
	}
	if (old != NULL) {
		e->page = old;
		publish(e);
	}
	e->mapped = true;
	k.mapped++;
	return e->page;
}

/* Cancelled, a thread would leave descriptors open. That is by a signal of the
 * C library's, glibc's 32 or musl's 33. */
static bool cancelable(void)
{
	unsigned long mask[128 / 8 / sizeof(long)] = {0};

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, mask, (size_t)(_NSIG / 8));
#ifdef __GLIBC__
	return !(mask[0] >> 31 & 1);
#else
	return !((sizeof(long) > 4 ? mask[0] >> 16 >> 16 : mask[1]) & 1);
#endif
}

static void *pretended_mmap(void *old, size_t size, int prot, int flags, int fd,
			    long offset)
{
	bool hole =
		old == NULL || gone[(struct perf_event_mmap_page *)old - pages];
	void *page;

	signals();
	strange += size != (size_t)sysconf(_SC_PAGESIZE) || offset != 0 ||
		   prot != PROT_READ || (fd >= 0 && cancelable()) ||
		   hole == !!(flags & MAP_FIXED) ||
		   (flags & MAP_ANONYMOUS && (fd != -1 || flags & MAP_SHARED));
	page = pretended_map(old, fd < 0 ? NULL : described[fd]);
	signals();
	return page;
}

static int pretended_munmap(void *page, size_t size)
{
	bool *empty = &gone[(struct perf_event_mmap_page *)page - pages];

	signals();
	strange += size != (size_t)sysconf(_SC_PAGESIZE) || *empty;
	lose_page(page);
	*empty = true;
	signals();
	return 0;
}

static unsigned ioctls, reads;

/* By a descriptor that was opened, of which gcc's analyser does not know. */
static struct event *opened(int fd)
{
	if (described[fd] == NULL)
		abort();
	return described[fd];
}

static int pretended_SYS_ioctl(int fd, unsigned long request, uint64_t *id)
{
	ioctls++;
	signals();
	strange += request != PERF_EVENT_IOC_ID;
	k.asked_id = (unsigned)fd;
	if (k.no_ids || !opened(fd)->open)
		return -1;
	*id = opened(fd)->id;
	return 0;
}

static ssize_t pretended_read(int fd, void *count, size_t size)
{
	const struct event e = *opened(fd);
	const uint64_t format[] = {e.count, e.enabled, e.running};

	reads++;
	k.unverified += k.asked_id != (unsigned)fd || !e.open;
	memcpy(count, format, size);
	signals();
	return e.error ? 0 : (ssize_t)size;
}

static int pretended_close(int fd)
{
	struct event *e = opened(fd);

	e->open = false;
	if (!e->mapped)
		e->index = 0;
	signals();
	return 0;
}

static bool no_memory;

#include "../src/perf/pmus.c"
#define syscall(number, ...) KERNEL(pretended_##number(__VA_ARGS__))
#define mmap(...) KERNEL(pretended_mmap(__VA_ARGS__))
#define munmap(page, size) KERNEL(pretended_munmap(page, size))
#define cpuc_sys_read(fd, to, size) KERNEL(pretended_read(fd, to, size))
#define cpuc_sys_close(fd) KERNEL(pretended_close(fd))
#define cpuc_thread_memory(size, ended) \
	(no_memory ? NULL : cpuc_thread_memory(size, ended))
#include "../src/perf/event.c"
#include "../src/perf/thread_events.c"
#undef cpuc_thread_memory
#include "../src/perf/read.c"
#include "../src/perf/perf.c"

long long cpuc_first(void)
{
	return -2;
}

long long cpuc_first_instructions(void)
{
	return -3;
}

/* What a test does when a thread counts on another type of core. */
static void (*on_new_core)(struct cpuc_event_set *set);

void cpuc_first_on_core(struct cpuc_event_set *set)
{
	if (on_new_core != NULL)
		on_new_core(set);
}

static struct cpuc_event_set one = {
	.reg = register_of,
	.access = {CPUC_PMUS "cpu/rdpmc", CPUC_PMUS "cpu_core/rdpmc"}};
static struct cpuc_event_set none_mapped;
static struct cpuc_event_set retired = {.counts = PERF_COUNT_HW_INSTRUCTIONS,
					.reg = register_of};

#define own cpuc_perf_thread_own(&one)

__attribute__((unused)) static bool counts_instructions(void)
{
	return one.counts == PERF_COUNT_HW_INSTRUCTIONS;
}

__attribute__((unused)) static unsigned left_open(void)
{
	unsigned i, n = 0;

	for (i = 0; i < k.made; i++)
		n += world[i].open + world[i].mapped;
	return n;
}

/* As it was before the first selection. */
static void unopened(struct cpuc_event_set *set)
{
	set->opened = set->proven = 0;
	set->absent = false;
}

static void forget(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = cpuc_perf_thread_state(set, read_ended);

	if (t == NULL)
		abort();
	*t = (struct cpuc_perf_thread){.quick = &zero};
	unopened(set);
}

static void fresh_kernel(void)
{
	unsigned i;

	memset(world, 0, sizeof world);
	memset(pages, 0, sizeof pages);
	memset(gone, 0, sizeof gone);
	for (i = 0; i < WORLD; i++)
		world[i].page = &pages[i];
	k = (struct pretended_kernel){.next_index = 32,
				      .next_width = 64,
				      .here = ~0u,
				      .openable = 1000,
				      .ipc = 1};
}

/* A thread that has not counted. */
static void fresh(void)
{
	cpuc_thread_prepare();
	forget(&one);
	forget(&retired);
	unopened(&none_mapped);
	fresh_kernel();
}

static struct cpuc_slot it;

static int open_counter(struct cpuc_event_set *pmu)
{
	memset(&it, 0, sizeof it);
	return cpuc_perf_try(&it, pmu);
}

/* Runs f for cycles, and then for instructions. */
__attribute__((unused)) static void on_both(void (*f)(void))
{
	f();
	diag("instructions");
	fresh();
	one.counts = none_mapped.counts = PERF_COUNT_HW_INSTRUCTIONS;
	f();
	fresh();
	one.counts = none_mapped.counts = PERF_COUNT_HW_CPU_CYCLES;
}

/* Last in main. */
static int done_with_kernel(void)
{
	ok(faults == 0 && strange == 0,
	   "no register is read that users may not read, and all calls are for "
	   "this thread and its events (%u, %u)",
	   faults, strange);
	return done_testing();
}

#endif
