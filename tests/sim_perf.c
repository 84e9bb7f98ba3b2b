/* SPDX-License-Identifier: 0BSD */
/* Reading perf events on a pretended kernel, through switches, forks, signal
 * handlers, ends of threads, and descriptors that somebody else has closed. */
#define _GNU_SOURCE
#include <config.h>
#include <setjmp.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
SKIPPED_MAIN("there is no <linux/perf_event.h>")
#else

#include "calibrated/proof.h"
#include "pretended_chains.h"
#include "pretended_cores.h"

static uint64_t read_one(void)
{
	return (uint64_t)cpuc_perf_count(&one, one.counts, one.reg);
}

/* So much later, and so often, that a better way is tried. */
static void count_much_later(void)
{
	int i;

	now_ns += 30000000;
	for (i = 0; i < 100; i++)
		read_one();
}

/* Changes that come in the middle of a read. */
/* The thread moves to the next type of core. */
static void migrate(void)
{
	run(999);
	core = (core + 1) % core_types;
	on_core(core);
	run(3);
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
	on_core(core);
}

/* A page that does not map takes the one that was in its place with it. */
static void let_few(void)
{
	k.openable = (unsigned)(rnd() % 4);
	k.unmappable = k.page_permits ? 0 : (unsigned)(rnd() % 4);
}

static void (*const changes[])(void) = {
	move_register, take_away, lose_descriptor, migrate,
	take_all,      shut_out,  let_in,          let_few};

static void something(void)
{
	if (own->set == NULL)
		return;
	victim = event_in(own, (unsigned)(rnd() % one.n));
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

static void handles(int sig)
{
	(void)sig;
	something_and_count();
}

/* Other memory is at the addresses of the pages, and of what was kept in the
 * place of one. */
static void fork_here(void)
{
	struct event *e;

	if (own->set == NULL)
		return;
	*(uint32_t *)(uintptr_t)own->mark = 0;
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
	uint64_t total = own->base, unknown = 0, enabled = 0, running = 0;
	const struct event *e;
	unsigned i;

	for (i = 0; i < one.n; i++) {
		e = event_in(own, i);
		if (e == NULL)
			continue;
		total += e->count;
		running += e->running;
		if (enabled < e->enabled)
			enabled = e->enabled;
		if (e->mapped && e->page->index == 0)
			unknown += e->count - (uint64_t)e->page->offset;
	}
	if (own->way == CPUC_MULTIPLEXED && !counts_instructions() &&
	    enabled > running)
		total += enabled - running;
	*published = total - unknown;
	return total;
}

/* Places where a count is interrupted; most have three, some many. 0: none. */
static int any_place(void)
{
	return rnd() % 4 ? 0 : 1 + (int)(rnd() % (rnd() % 2 ? 3 : 24));
}

/* The thread ends; a signal may come at a system call. Destructors count on. */
static void end_here(void)
{
	if (own->set == NULL)
		return;
	sent = SIGSYS;
	calls_left = any_place();
	read_ended(cpuc_perf_own, false);
	calls_left = 0;
	untrue += left_open() != foreign || k.blanks != 0;
}

/* Counts. The result is one of this time, but for what two handlers add in the
 * midst of changes. */
static void count_truly(void)
{
	uint64_t was = latest, begun = now_ns, least, most, now, known;
	unsigned made = k.made;
	int cancels;

	count_of_all(&least);
	errno = E2BIG;
	now = read_one();
	untrue += errno != E2BIG;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancels);
	untrue += cancels != PTHREAD_CANCEL_ENABLE;
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

/* When all is well, the thread counts by mapped pages, one a type, or by as
 * many descriptors, and goes on so. */
static bool settles(void)
{
	unsigned made;

	let_in();
	lost = false;
	count_much_later();
	made = k.made;
	count_much_later();
	since = now_ns;
	latest = read_one();
	run(1000);
	return read_one() == latest + 1000 && k.made == made && newest.pinned &&
	       (*own->quick != 0) == (one.reg != NULL) &&
	       left_open() == one.n + foreign && k.blanks == 0;
}

/* Then no page stays whose event is on a register. */
static bool closes(void)
{
	cpuc_perf_close(&one);
	return left_open() == foreign &&
	       k.blanks == (one.reg != NULL ? one.n : 0);
}

/* A thread on a CPU of one to three types of cores, with events of any width,
 * just below the register's highest bit or its end. Perhaps it may read
 * registers only while a page is mapped, or reads none. */
static void begin_any(void)
{
	static const unsigned widths[] = {32, 40, 48, 64};

	fresh_cores(1 + (unsigned)(rnd() % 3));
	foreign = 0;
	one.keep_page = k.page_permits = rnd() % 2;
	one.reg = rnd() % 4 ? register_of : NULL;
	k.next_width = widths[rnd() % 4];
	k.next_start = (1 + rnd() % 2) << (k.next_width - 1);
	k.next_start -= any(30);
	open_counter(&one);
	settles();
}

/* Changes before a count, at any access, and, in a handler, at any system
 * call. */
static void check_random(void)
{
	long i, cases = cases_begin(200000);
	unsigned unsettled = 0;

	untrue = 0;
	k.made = WORLD;
	for (i = 0; i < cases; i++) {
		if (i % 512 == 0 || k.made > WORLD - 60)
			begin_any();
		run(any(30));
		if (rnd() % 64 == 0)
			fork_here();
		if (rnd() % 64 == 0)
			end_here();
		if (rnd() % 4 == 0)
			something();
		happens = rnd() % 2 ? something : something_and_count;
		in_steps = any_place();
		calls_left = any_place();
		sent = rnd() % 2 ? SIGUSR1 : SIGSYS;
		count_truly();
		if (rnd() % 32 == 0)
			unsettled += !settles() || (rnd() % 2 && !closes());
	}
	one.keep_page = false;
	one.reg = register_of;
	ok(untrue == 0,
	   "%ld random changes and counts: all are true, and none "
	   "is below an earlier one (%u)",
	   cases, untrue);
	ok(unsettled == 0,
	   "when all is well, events are pinned, and mapped (%u)", unsettled);
}

/* The page of an event without a register: what is in its place, or that it
 * stays, where users may read registers as long as one is mapped. */
static void check_not_at_once(unsigned stays)
{
	unsigned made;

	one.keep_page = stays;
	begin_cores(1);
	victim = event_in(own, 0);
	made = k.made;
	take_all();
	read_one();
	ok(k.made == made + 2 && left_open() == 1 + stays &&
		   k.blanks == 1 - stays,
	   "after a page without a register, which %s, descriptors are tried "
	   "alone",
	   stays ? "stays" : "goes");
	one.keep_page = false;
}

/* Others have all registers for a while: the event shares one. In place of the
 * cycles that it misses time counts, by descriptors of one type or two. */
static void check_shared(void)
{
	const uint64_t stands_in = counts_instructions() ? 0 : 1000;
	unsigned types;
	uint64_t a, b;

	for (types = 1; types <= 2; types++) {
		begin_cores(types);
		victim = event_in(own, 0);
		take_all();
		a = read_one();
		run(1000);
		b = read_one();
		ok(own->way == CPUC_MULTIPLEXED && b - a == stands_in,
		   "%u types: an event without a register: %u of 1000", types,
		   (unsigned)(b - a));
		k.all_taken = false;
		on_core(types - 1);
		run(1000);
		a = read_one();
		victim = event_in(own, types - 1);
		victim->index = 0;
		publish(victim);
		run(1000);
		a = read_one() - a;
		ok(own->way == CPUC_MULTIPLEXED && a == stands_in,
		   "%u types: and after it had one: %u", types, (unsigned)a);
	}
}

/* In the place of one that went nobody maps what does not map there, and not
 * over what others have mapped meanwhile, for whom zeros are elsewhere. */
static void check_no_place(void *zeros_at)
{
	begin_cores(1);
	cpuc_perf_close(&one);
	k.unmappable = 1;
	k.zeros_at = zeros_at;
	read_one();
	ok(left_open() == 1 && k.blanks == 0 && newest.open,
	   "a page that does not map: a descriptor");
	k.zeros_at = NULL;
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
	victim = event_in(own, 0);
	shut_out();
	ok(open_counter(&one) < 0, "an index that is no longer: no counter");
	k.no_ids = true;
	ok(open_counter(&one) < 0 && open_counter(&none_mapped) < 0 &&
		   left_open() == 0 && it.trial.hint != NULL,
	   "nor is an event kept that has no id: %s", it.trial.reason);
	k.refuse = -EMFILE;
	read_one();
	a = read_one();
	run(5);
	a = read_one() - a;
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

/* No register, as for default-perfevent. Each of these calls may be met by a
 * signal once. */
static void check_calls(void)
{
	one.reg = NULL;
	begin_cores(1);
	read_one();
	crossings = ioctls = reads = 0;
	read_one();
	ok(crossings == 2 && ioctls == 1 && reads == 1,
	   "a count by a descriptor is two system calls, ioctl and read: %u",
	   crossings);
	one.reg = register_of;
}

static void check_another(void)
{
	uint64_t a;

	fresh();
	open_counter(&one);
	ok(open_counter(NULL) == 0 && open_counter(&none_mapped) == 0,
	   "another counter opens, and one without events");
	run(100);
	a = read_one();
	ok((uint64_t)cpuc_perf_slow(&none_mapped) >= a && left_open() == 1,
	   "its event replaces the first's");
	cpuc_perf_close(&one);
	ok(own->set == &none_mapped, "which the other's close leaves");
}

static sigjmp_buf probe;

static void leave(void)
{
	siglongjmp(probe, 1);
}

/* A probe ends the read of a register, the seventh access. */
static void check_forbidden(void)
{
	begin_cores(1);
	happens = leave;
	in_steps = 7;
	if (sigsetjmp(probe, 1) == 0)
		open_counter(&one);
	cpuc_guard_inside = false;
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	accesses = 0;
	cpuc_perf_close(&one);
	ok(accesses == 0 && left_open() == 0, "what faults is read no more");
}

/* Destructors that others registered count before and after the library's. */
static void check_end(void)
{
	uint64_t a;

	begin_cores(1);
	a = read_one();
	run(500);
	read_ended(cpuc_perf_own, false);
	ok(left_open() == 0 && read_one() >= a + 500,
	   "at a thread's end no cycles are lost");
}

/* Pages that an unmapping would take from others. */
static void check_deferred(void)
{
	unsigned i;

	one.defer_unmap = true;
	begin_cores(1);
	for (i = 0; i <= CPUC_PLACES; i++) {
		read_one();
		read_ended(cpuc_perf_own, false);
	}
	ok(left_open() == CPUC_PLACES,
	   "pages stay at the ends of %d threads, but not of one more",
	   CPUC_PLACES);
	for (i = 2; i < k.made; i++) {
		world[i].index = 0;
		publish(&world[i]);
	}
	read_one();
	ok(world[1].mapped && !world[2].mapped && world[3].mapped,
	   "one goes as the next thread begins, whose event is on no register");
	world[1].page->index = 0;
	for (i = 0; i < CPUC_PLACES; i++)
		thread_events_unmap_deferred();
	cpuc_perf_close(&one);
	ok(left_open() == 0, "and all in the end");
	one.defer_unmap = false;
	read_ended(cpuc_perf_own, true);
	ok(cpuc_perf_own == cpuc_perf_nobody, "nor is memory left that goes");
}

/* Cycles and instructions of one thread, three a cycle. */
static void begin_pair(unsigned types)
{
	begin_cores(types);
	k.ipc = 3;
	open_counter(&retired);
	cpuc_perf_pair(&one, &retired, (long long[2]){0});
}

/* Whether two pairs fit, with a change at an access of the second. */
static bool pairs_fit(void (*change)(void), int step)
{
	long long a[2], b[2];

	cpuc_perf_pair(&one, &retired, a);
	run(1000);
	happens = change;
	in_steps = step;
	cpuc_perf_pair(&one, &retired, b);
	in_steps = 0;
	b[0] -= a[0];
	return b[0] >= 1000 && b[1] - a[1] == (long long)k.ipc * b[0];
}

static void handler_works(void)
{
	run(5000);
}

static void check_pair_changes(const char *what, unsigned types,
			       void (*change)(void))
{
	int step, bad = 0;

	for (step = 1; step < 60; step++) {
		begin_pair(types);
		k.access = 10;
		victim = event_in(cpuc_perf_thread_own(&retired), 0);
		bad += !pairs_fit(change, step);
	}
	ok(bad == 0, "a pair is of one instant: %s (%d)", what, bad);
}

static void check_pair(void)
{
	long long pair[2];

	begin_pair(1);
	read_ended(cpuc_perf_own, true);
	cpuc_perf_pair(&one, &retired, pair);
	read_ended(cpuc_perf_own, true);
	cpuc_perf_pair(&retired, &one, pair);
	ok(left_open() == 2, "a new thread may begin with either");
	begin_pair(1);
	accesses = 0;
	read_one();
	ok(accesses == 3,
	   "a count reads a register and, twice, one page's lock (%u)",
	   accesses);
	ok(pairs_fit(NULL, 0) && accesses == 3 + 2 * 3 * 3 &&
		   cpuc_perf_opened(&retired) &&
		   !cpuc_perf_opened(&none_mapped),
	   "a pair is three counts (%u)", accesses);
	one.reg = retired.reg = NULL;
	begin_pair(1);
	reads = 0;
	ok(pairs_fit(NULL, 0) && reads == 2 * 3,
	   "or three reads of descriptors (%u)", reads);
	one.reg = retired.reg = register_of;
	check_pair_changes("a handler in between", 1, handler_works);
	check_pair_changes("another register", 1, move_register);
	check_pair_changes("another type of core", 2, migrate);
}

static uint64_t worked; /* cycles */

static void works(uint64_t cycles, uint64_t instructions)
{
	worked += cycles;
	run(counts_instructions() ? instructions : cycles);
}

static long long read_signed(void)
{
	return (long long)read_one();
}

static int prove_by(const struct cpuc_counter *counter)
{
	long long begun = read_signed();

	it = (struct cpuc_slot){.counter = counter};
	it.trial.step = read_signed() - begun;
	return cpuc_prove(&it, &pretended_ops[the_cpu->of]);
}

static void pair_unread(long long pair[2])
{
	pair[0] = pair[1] = 0;
}

/* 0: the counter is believed; of instructions beside one of cycles, or of both
 * together. */
static int prove(void)
{
	static const struct cpuc_counter cycles = {.read = read_signed},
					 instructions = {.read = read_signed,
							 .cycles = &cycles},
					 both = {.read = read_signed,
						 .pair = pair_unread};

	int err = prove_by(counts_instructions() ? &both : &cycles);

	if (err == 0 && counts_instructions())
		err = prove_by(&instructions);
	return err;
}

/* How a PMU is wrong, and a part of the reason. */
static const struct wrong {
	const char *what;
	unsigned percent, a_read;
	const char *counts;
} wrongs[] = {
	{"a half", 50, 0, NULL},
	{"double", 200, 0, NULL},
	{"97%", 97, 0, NULL},
	/* Of cycles these may be right. */
	{"98%", 98, 0, NULL},
	{"102%", 102, 0, NULL},
	{"120%", 120, 0, NULL},
	{"one a read", 0, 1, "counts 0 of "},
	{"nothing", 0, 0, "counts 0 of "},
};

static void go_wrong(const struct wrong *w, unsigned types)
{
	k.wrong = types;
	k.percent = w->percent;
	k.a_read = w->a_read;
}

static bool refused_for(const struct wrong *w)
{
	return prove() < 0 && strstr(it.trial.reason, "a virtual PMU?") &&
	       strstr(it.trial.reason, w->counts ? w->counts : "counts ") &&
	       strstr(it.trial.reason,
		      counts_instructions() ? " instructions" : " cycles");
}

/* A counter that is right on each CPU, and one of each kind of wrong. */
static void check_proof(const struct pretended_cpu *of)
{
	const bool judged = !of->emulated || counts_instructions();
	const char *reason = "";
	unsigned i, bad = 0;

	/* A raw counter's, which goes back: not of this kernel's. */
	if (of->others < 0)
		return;
	the_cpu = of;
	begin_cores(1);
	k.access = 10;
	ok(prove() == 0, "%s: a right counter is believed (%s)", of->what,
	   it.trial.reason);
	for (i = 0; judged && i < COUNT(wrongs); i++) {
		/* What in-order loops may take is more. */
		go_wrong(&wrongs[i], 1);
		if (!counts_instructions() &&
		    wrongs[i].percent >= (of->loop > 0 ? 97 : 98) &&
		    wrongs[i].percent <= 120)
			continue;
		if (!refused_for(&wrongs[i])) {
			reason = wrongs[i].what;
			bad++;
		}
	}
	ok(bad == 0, "%s: no wrong counter is (%s; %s)", of->what, reason,
	   it.trial.reason);
}

/* A first call may take 20 us longer for it, even at 1 GHz, but for reads. The
 * instructions' counter is proved at its own first call. */
static void check_proof_is_short(void)
{
	bool believed;

	if (counts_instructions())
		return;
	begin_cores(1);
	k.access = 10;
	worked = 0;
	believed = prove() == 0;
	ok(believed && worked < 20000, "%s: a proof takes %llu cycles",
	   the_cpu->what, (unsigned long long)worked);
}

/* As the library does when a thread comes to another type of core: no read in
 * a proof begins another. */
static unsigned proofs;
static int proof;

static void prove_there(struct cpuc_event_set *set)
{
	on_new_core = NULL;
	proofs++;
	proof = prove();
	cpuc_perf_proved(set, proof == 0);
	on_new_core = prove_there;
}

/* How many proofs a count begins on a core of this type. */
static unsigned proofs_on(unsigned type)
{
	const unsigned before = proofs;

	on_core(type);
	run(1000);
	read_one();
	run(1000);
	read_one();
	return proofs - before;
}

/* The other CPU's PMU is wrong, or this one's is from now on: a new proof finds
 * it. */
static void check_first_cpu(const struct wrong *w, const char *cpu)
{
	int first;

	begin_cores(1);
	first = prove();
	go_wrong(w, 1);
	ok(first == 0 && refused_for(w),
	   "%s: only the first CPU is right, the other counts %s", cpu,
	   w->what);
}

/* Each type's PMU is tried when a thread first counts there, and no more. */
static void check_one_of_two(const struct wrong *w, const char *cpu)
{
	bool found;

	begin_cores(2);
	on_new_core = prove_there;
	found = proofs_on(0) == 1 && proof == 0 && !cpuc_perf_unproven(&one) &&
		proofs_on(0) == 0;
	go_wrong(w, 2);
	found &= proofs_on(0) == 0 && proofs_on(1) > 0 && proof < 0 &&
		 cpuc_perf_unproven(&one) && !cpuc_perf_right(&one) &&
		 refused_for(w);
	go_wrong(w, 0);
	found &= proofs_on(1) == 1 && proof == 0 && cpuc_perf_right(&one) &&
		 proofs_on(0) == 0 && proofs_on(1) == 0;
	/* A selection there finds out: it is tried again, until it is right. */
	go_wrong(w, 2);
	prove_there(&one);
	found &= proof < 0 && proofs_on(1) > 0;
	/* Of new events only this core's has counted. */
	on_core(0);
	cpuc_perf_drop(own, false);
	found &= proofs_on(0) == 0;
	on_new_core = NULL;
	/* A right trial in which the thread moves says nothing of either, or
	 * by registers, of which one counts at a time, of the first. A wrong
	 * one says that both may be wrong, or the later. */
	one.proven = 0;
	on_core(0);
	run(1000);
	on_core(1);
	run(1000);
	read_one();
	cpuc_perf_proved(&one, true);
	found &= one.proven == (one.reg == NULL ? 0 : 2);
	one.proven = 3;
	cpuc_perf_proved(&one, false);
	found &= one.proven == (one.reg == NULL ? 0 : 1);
	one.proven = 0;
	cpuc_perf_proved(&one, false);
	found &= one.proven == 0;
	ok(found, "%s: one PMU of two counts %s%s, and is found there", cpu,
	   w->what, one.reg == NULL ? ", by descriptors" : "");
}

static void check_elsewhere(const char *cpu)
{
	size_t i;

	for (the_cpu = cpus; strcmp(the_cpu->what, cpu) != 0; the_cpu++)
		;
	check_proof_is_short();
	for (i = 0; i < COUNT(wrongs); i++) {
		if (wrongs[i].percent > 50 && wrongs[i].percent < 200)
			continue;
		check_first_cpu(&wrongs[i], cpu);
		check_one_of_two(&wrongs[i], cpu);
		one.reg = NULL;
		if (wrongs[i].a_read == 0)
			check_one_of_two(&wrongs[i], cpu);
		one.reg = register_of;
	}
}

static void check_proofs(void)
{
	size_t i;

	for (i = 0; i < COUNT(cpus); i++)
		check_proof(&cpus[i]);
	check_elsewhere("x86");
	check_elsewhere("arm64");
	check_elsewhere("riscv64, in order");
}

static void check_all(void)
{
	check_proofs();
	check_random();
	check_not_at_once(0);
	check_not_at_once(1);
	check_shared();
	check_no_place(MAP_FAILED);
	check_no_place(&pages[WORLD - 1]);
	check_without();
	check_calls();
	check_another();
	check_forbidden();
	check_end();
	check_deferred();
}

int main(void)
{
	signal(SIGUSR1, handles);
	signal(SIGSYS, handles);
	on_both(check_all);
	check_pair();
	return done_with_kernel();
}

#endif
