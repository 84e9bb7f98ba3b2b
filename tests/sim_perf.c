/* SPDX-License-Identifier: 0BSD */
/* Reading perf events on a pretended kernel, through switches, forks, signal
 * handlers, ends of threads, and descriptors that somebody else has closed. */
#define _GNU_SOURCE
#include <config.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
SKIPPED_MAIN("there is no <linux/perf_event.h>")
#else

#include <pthread.h>
#include "pretended_perf.h"

static void (*handler)(void);

static void handles(int sig)
{
	(void)sig;
	handler();
}

/* How much a count grows while the thread runs for so many cycles. */
static uint64_t growth(uint64_t (*count)(void), uint64_t run_for)
{
	uint64_t before = count();

	run(run_for);
	return count() - before;
}

/* The thread's event of a type of cores; NULL: it has none. */
static struct event *mine(unsigned i)
{
	const struct cpuc_perf_event *e = &own->event[i];

	if (e->page == NULL)
		return e->id != 0 ? described[e->fd] : NULL;
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

/* The thread is on a core of this type. */
static void on_core(unsigned type)
{
	struct event *e;

	k.here = 1u << type;
	for (e = world; e < world + k.made; e++) {
		uint32_t was = e->index;

		/* The kernel does not touch the pages of other types. */
		e->index = k.here >> e->type & 1 && (e->open || e->mapped)
				   ? register_for(e)
				   : 0;
		if (was != 0 || e->index != 0)
			publish(e);
	}
}

static unsigned core, first_core, core_types;

/* A fresh thread on a CPU with so many types of cores. */
static void fresh_cores(unsigned types)
{
	fresh();
	first_core = types > 1 ? 4 : 0;
	core_types = types;
	core = 0;
	if (types == 1)
		return;
	k.here = 1u << first_core;
	snprintf(tree, sizeof tree, "%.40s/types%u", base, types);
	strcpy(root, tree);
	if (access(root, F_OK) != 0)
		put_pmus("cpu_core cpu_atom cpu_lowpower", types, 4, CPUS);
}

/* And with an open counter. */
static void begin_cores(unsigned types)
{
	fresh_cores(types);
	open_counter(&one);
}

/* Changes that come in the middle of a read. */
static struct event *victim;

/* The thread moves to the next type of core, and to all of them and back. */
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

static void move_register(void)
{
	run(1000003);
	if (victim->index == 0)
		return;
	victim->index = victim->index == 7 ? 32 : 7;
	victim->start += 0x123456789;
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

/* Descriptors that others have opened, with numbers that were the thread's. */
static unsigned foreign;
/* The events cannot be read any more. */
static bool lost;

static void lose_descriptor(void)
{
	if (!victim->open || victim->id > WORLD)
		return;
	lost = true;
	victim->open = rnd() % 2;
	if (victim->open) {
		victim->id = WORLD + 1;
		victim->count += 1000000;
		foreign++;
	}
}

/* Others have all registers. An event in error state cannot be read by its
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
	k.shut_out = k.all_taken = false;
	k.openable = 1000;
	k.unmappable = 0;
	on_core(first_core + core);
}

/* A page that does not map takes the one that was in its place with it. */
static void let_few(void)
{
	k.openable = (unsigned)(rnd() % 4);
	k.unmappable = k.page_permits ? 0 : (unsigned)(rnd() % 4);
}

static void (*const changes[])(void) = {
	move_register, take_away, bring_back, lose_descriptor, migrate,
	travel,        take_all,  shut_out,   let_in,          let_few};

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
	struct event *e;

	if (own->set == NULL)
		return;
	*(uint32_t *)(uintptr_t)own->process = 0;
	for (e = world; e < world + k.made; e++)
		if (e->mapped) {
			memset(e->page, 0x55, sizeof *e->page);
			gone[e->page - pages] = true;
			lose_page(e->page);
		}
	k.blanks = 0;
	lost = true;
}

/* The count; and what can be known of it: at index 0, what it was when that was
 * written. */
static uint64_t count_of_all(uint64_t *published)
{
	uint64_t total = own->base, unknown = 0;
	const struct event *e;
	unsigned i;

	for (i = 0; i < one.n; i++) {
		e = mine(i);
		if (e == NULL)
			continue;
		total += e->count;
		if (e->mapped && e->page->index == 0)
			unknown += e->count - (uint64_t)e->page->offset;
	}
	*published = total - unknown;
	return total;
}

/* Counts. The result is one of this time, but for what two handlers add in the
 * midst of changes. */
static void count_truly(void)
{
	uint64_t was = latest, begun = now_ns, least, most, now, known;
	unsigned made = k.made;

	count_of_all(&least);
	errno = E2BIG;
	now = read_one();
	untrue += errno != E2BIG;
	in_steps = calls_left = 0;
	most = count_of_all(&known);
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

static long cases;

/* Changes before a count, at any access, and, in a handler, at any system
 * call. */
static void check_random(void)
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
		sent = rnd() % 2 ? SIGUSR1 : SIGSYS;
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
}

/* The page of an event without a register: what is in its place, or that it
 * stays, where users may read registers as long as one is mapped. */
static void check_not_at_once(unsigned stays)
{
	unsigned made;

	one.keep_page = stays;
	begin_cores(1);
	victim = mine(0);
	made = k.made;
	take_all();
	read_one();
	ok(k.made == made + 2 && left_open() == 1 + stays &&
		   k.blanks == 1 - stays,
	   "after a page without a register, which %s, descriptors are tried "
	   "alone",
	   stays ? "stays" : "goes");
	thread_events_ended(cpuc_perf_own, false);
	ok(left_open() == 0 && k.blanks == 0,
	   "and in the end nothing is in the page's place");
	begin_cores(1);
	cpuc_perf_close(&one);
	ok(left_open() == 0, "no page stays whose event is on a register");
	fresh();
	k.shut_out = true;
	ok(open_counter(&one) < 0 && left_open() == 0,
	   "nor where users cannot read registers");
	one.keep_page = false;
}

/* In the place of one that went nobody maps what does not map there. */
static void check_no_place(void)
{
	begin_cores(1);
	cpuc_perf_close(&one);
	k.unmappable = 1;
	k.unblankable = true;
	read_one();
	ok(left_open() == 1 && k.blanks == 0 && newest.open,
	   "a page that does not map: a descriptor");
	k.unblankable = false;
	count_much_later();
	ok(newest.mapped && newest.page == &pages[k.made - 1],
	   "later a page elsewhere");
}

/* Without events, without a state that can be changed, without memory. */
static void check_without(void)
{
	const bool time = !counts_instructions();
	struct cpuc_perf_thread *states;
	uint64_t a;

	fresh();
	a = read_one();
	ok(a == (uint64_t)(time ? cpuc_first() : cpuc_first_instructions()),
	   "before a selection: the first call");
	k.no_access = true;
	k.next_start = 0x123456789;
	ok(open_counter(&one) < 0 && left_open() == 0 && own->last < 1000,
	   "an index on a kernel without user access: no counter");
	begin_cores(1);
	victim = mine(0);
	shut_out();
	ok(open_counter(&one) < 0, "an index that is no longer: no counter");
	k.refuse = -EMFILE;
	read_one();
	a = growth(read_one, 5);
	ok(time ? a >= 5 && a < 1000 : a == 0,
	   "no event at all: time passes, and no instructions");
	states = cpuc_perf_own;
	cpuc_guard_inside = true;
	cpuc_perf_own = cpuc_perf_nobody;
	ok(read_one() + read_one() == 2 && cpuc_perf_own == cpuc_perf_nobody,
	   "the first counts of a thread, in the midst of a change");
	cpuc_guard_inside = false;
	no_memory = true;
	read_one();
	no_memory = false;
	a = read_one();
	ok(a == (time ? now_ns : 0), "without memory: time, or nothing");
	cpuc_perf_own = states;
}

static uint64_t read_none_mapped(void)
{
	return (uint64_t)cpuc_perf_slow(&none_mapped);
}

static void check_descriptors(void)
{
	uint64_t a;
	bool bad;
	int i;

	fresh();
	bad = open_counter(NULL) != 0 || open_counter(&none_mapped) != 0;
	for (i = 0; i < 1000; i++)
		read_none_mapped();
	ok(!bad && newest.pinned && k.made == 2,
	   "read(2): a pinned event, too, and the same for 1000 counts");
	*(uint32_t *)(uintptr_t)own->process = 0;
	ok(growth(read_none_mapped, 10) == 10 && k.made == 3,
	   "and another in a child");
	fresh();
	open_counter(&none_mapped);
	read_none_mapped();
	newest.open = false;
	ok(newest.id == 1 && growth(read_none_mapped, 10) == 10 &&
		   k.made == 3 && k.unverified == 0,
	   "and where others have closed it");
	fresh();
	k.refuse = -EINVAL;
	k.refuse_exclude = CPUC_PINNED;
	open_counter(&none_mapped);
	ok(growth(read_none_mapped, 10) == 10 && left_open() == 1,
	   "pinned events refused: one that is not");
	fresh();
	open_counter(&one);
	open_counter(&none_mapped);
	run(100);
	a = read_one();
	ok(read_none_mapped() >= a && own->set == &none_mapped &&
		   !world[0].mapped,
	   "another counter's event replaces the first's");
	cpuc_perf_close(&one);
	ok(own->set == &none_mapped, "which another's close leaves");
	cpuc_perf_close(&none_mapped);
	ok(own->set == NULL && !newest.open, "and its own close does not");
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

	begin_cores(1);
	cpuc_perf_close(&one);
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
	begin_cores(1);
	read_one();
	victim = mine(0);
	thread_events_ended(cpuc_perf_own, true);
	ok(victim->mapped && own->set == NULL,
	   "but a page that an unmapping would take from others");
	take_away();
	read_one();
	one.defer_unmap = false;
	ok(!victim->mapped, "until its event is on no register, and another is "
			    "opened");
}

/* Pages of ended threads are unmapped later. */
static void check_deferred(void)
{
	unsigned i;

	fresh();
	k.made = CPUC_PLACES + 1;
	world[0].page->index = 1;
	for (i = 0; i < k.made; i++) {
		world[i].mapped = true;
		thread_events_defer(world[i].page);
	}
	ok(world[0].mapped && world[k.made - 2].mapped && !newest.mapped,
	   "without a place a page is unmapped at once");
	thread_events_unmap_deferred();
	ok(world[0].mapped && !world[1].mapped && world[2].mapped,
	   "one at a time, and not one whose event is on a register");
	world[0].page->index = 0;
	for (i = 0; i < CPUC_PLACES; i++)
		thread_events_unmap_deferred();
	ok(left_open() == 0, "but all in the end");
	/* As the kernel does in a child: no page is left to the next test. */
	memset(cpuc_process, 0, sizeof *cpuc_process);
}

static int travels;

static void travel_again(void)
{
	travel();
	in_steps = --travels > 0 ? 12 : 0;
}

static void check_cores(void)
{
	uint64_t now, total, known;
	unsigned made;

	begin_cores(3);
	read_one();
	made = k.made;
	travel();
	travels = 3;
	happens = travel_again;
	in_steps = 1;
	total = count_of_all(&known);
	now = read_one();
	ok(travels == 0 && now >= total && now <= count_of_all(&known) &&
		   k.made == made,
	   "pages are read again after a switch, and another");
	accesses = 0;
	read_one();
	ok(accesses == 3,
	   "a count reads a register, and one page's lock twice (%u)",
	   accesses);
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
	/* Not with all C libraries at once. */
	pthread_testcancel();
	return arg;
}

/* A thread that is cancelled at any of the system calls of its first count
 * leaves nothing open. */
static void check_cancelled(void)
{
	unsigned bad = 0;
	void *result;
	pthread_t id;
	int at;

	if (SANITIZED) {
		skip("sanitizers are in the way of cancelled threads");
		return;
	}
	handler = cancel_self;
	sent = SIGSYS;
	for (at = 1; at <= 10; at++) {
		begin_cores(2);
		cpuc_perf_close(&one);
		calls_left = at;
		if (pthread_create(&id, NULL, opening, NULL) != 0)
			return;
		pthread_join(id, &result);
		bad += calls_left > 0 || left_open() > 0 ||
		       result != PTHREAD_CANCELED;
		calls_left = 0;
	}
	ok(bad == 0,
	   "cancelled in its first count, a thread ends, and leaves "
	   "nothing open (%u)",
	   bad);
}

/* Cycles and instructions of one thread, three a cycle. */
static void begin_pair(unsigned types)
{
	begin_cores(types);
	k.ipc = 3;
	open_counter(&retired);
	cpuc_perf_pair(&one, &retired, (long long[2]){0});
}

/* From one pair to the next, with a change at an access or, before it, by so
 * many cycles: the cycles, or -1 if the instructions do not fit. */
static long long pair_growth(uint64_t run_for, void (*change)(void), int step)
{
	long long a[2], b[2];

	cpuc_perf_pair(&one, &retired, a);
	run(run_for);
	happens = change;
	in_steps = step;
	cpuc_perf_pair(&one, &retired, b);
	b[0] -= a[0];
	b[1] -= a[1];
	return b[1] == (long long)k.ipc * b[0] ? b[0] : -1;
}

static void handler_works(void)
{
	run(5000);
}

static struct event *instructions(void)
{
	const struct cpuc_perf_thread *t = cpuc_perf_thread_own(&retired);

	return event_of((const void *)(uintptr_t)t->event[0].page);
}

static void check_pair_changes(const char *what, unsigned types,
			       void (*change)(void))
{
	int step, bad = 0;

	for (step = 1; step < 60; step++) {
		begin_pair(types);
		k.access = 10;
		victim = instructions();
		bad += pair_growth(0, change, step) < 0;
		in_steps = 0;
	}
	ok(bad == 0, "a pair is of one instant: %s (%d)", what, bad);
}

static void *count_pair(void *first)
{
	struct cpuc_event_set *next = first == &one ? &retired : &one;

	cpuc_perf_pair(first, next, (long long[2]){0});
	return NULL;
}

static void check_pair(void)
{
	pthread_t id;
	begin_pair(1);
	ok(cpuc_perf_opened(&one) && cpuc_perf_opened(&retired) &&
		   !cpuc_perf_opened(&none_mapped),
	   "a pair's events are open");
	accesses = 0;
	cpuc_perf_pair(&one, &retired, (long long[2]){0});
	ok(accesses == 9, "a pair is three counts (%u)", accesses);
	ok(pair_growth(1000, NULL, 0) == 1000 && left_open() == 2 &&
		   *own->quick != 0 &&
		   *cpuc_perf_thread_own(&retired)->quick != 0,
	   "a pair in user space");
	if (pthread_create(&id, NULL, count_pair, &one) == 0)
		pthread_join(id, NULL);
	if (pthread_create(&id, NULL, count_pair, &retired) == 0)
		pthread_join(id, NULL);
	ok(left_open() == 2, "threads begin with either, and leave nothing");
	check_pair_changes("a handler in between", 1, handler_works);
	check_pair_changes("another register", 1, move_register);
	check_pair_changes("another type of core", 2, migrate);
	begin_pair(1);
	victim = mine(0);
	shut_out();
	victim = instructions();
	shut_out();
	ok(pair_growth(700, NULL, 0) == 700 && k.unverified == 0,
	   "a pair by descriptors");
}

static void check_all(void)
{
	check_random();
	check_not_at_once(0);
	check_not_at_once(1);
	check_no_place();
	check_without();
	check_descriptors();
	check_end();
	check_deferred();
	check_cores();
	check_cancelled();
}

int main(void)
{
	cases = cases_begin(200000);
	signal(SIGUSR1, handles);
	signal(SIGSYS, handles);
	setenv("TMPDIR", "/tmp", 1);
	make_base("sim_perf");

	on_both(check_all);
	check_pair();
	return done_with_kernel();
}

#endif
