/* SPDX-License-Identifier: 0BSD */
/* What a calibrated counter counts of waits and preemptions. First, pieces of
 * known length beside a rival that another CPU wakes: how many are too low.
 * Then sums: what is counted where a thread waits, of its own time. `make
 * waits` prints both; PIECES is how many pieces a row has. */
#include "../woken.h"
#include "bench.h"

#include <sys/prctl.h>

#define WAITS 2000  /* in a sum, or */
#define SUM_NS 1e10 /* so long */

static double rate; /* cycles a nanosecond */

static double now_rate(void)
{
	return (double)cpucycles_observepersecond() / 1e9;
}

static void bench_pieces(int how, unsigned long cycles, long pieces)
{
	const struct woken_piece piece = {cycles / known->turn, 0, 0};
	const double ns = (double)cycles / rate;
	long i, low95 = 0, low90 = 0, hid = 0;
	double part, lowest = DBL_MAX;
	struct woken_took t;

	for (i = 0; i < pieces; i++) {
		t = woken_work(&piece);
		part = t.counted / (double)cycles;
		low95 += part < 0.95;
		low90 += part < 0.9;
		hid += t.own < 0.95 * ns;
		lowest = part < lowest ? part : lowest;
	}
	printf("%lu cycles, %s rival\t%ld\t%ld\t%ld\t%ld\t%.3f\n", cycles,
	       how == WOKEN_FIFO ? "real-time" : "ordinary", pieces, hid, low95,
	       low90, lowest);
}

static void doze(int us)
{
	usleep((useconds_t)us);
}

static void yield(int us)
{
	(void)us;
	sched_yield();
}

static int ask[2], answer[2];

static void respond(void)
{
	char c;

	if (read(ask[0], &c, 1) != 1 || write(answer[1], &c, 1) != 1)
		_exit(1);
}

static void asks(int us)
{
	char c = 0;

	(void)us;
	if (write(ask[1], &c, 1) != 1 || read(answer[0], &c, 1) != 1)
		abort();
}

static const struct job {
	const char *name;
	int work; /* us */
	void (*wait)(int us);
	int us;
	void (*rival)(void);
} jobs[] = {
	{"100 us, yields to a busy rival", 100, yield, 0, load_busy},
	{"10 us, yields to a busy rival", 10, yield, 0, load_busy},
	{"10 us, asks another process", 10, asks, 0, respond},
	{"100 us, asks another process", 100, asks, 0, respond},
	{"10 us, sleeps 10 us", 10, doze, 10, NULL},
	{"20 us, sleeps 50 us", 20, doze, 50, NULL},
	{"20 us, sleeps 100 us", 20, doze, 100, NULL},
	{"100 us, sleeps 300 us", 100, doze, 300, NULL},
};

static void bench_sum(const struct job *job)
{
	const pid_t rival = job->rival ? load_rival(job->rival) : 0;
	const unsigned long n =
		(unsigned long)(job->work * 1e3 * rate) / known->turn + 1;
	const double end = wall_ns() + SUM_NS;
	double then = now_rate(), own = ran_ns();
	long long counted = cpucycles();
	long waits = 0;

	while (waits < WAITS && wall_ns() < end) {
		known->loop(n);
		cpucycles();
		job->wait(job->us);
		cpucycles();
		waits++;
	}
	counted = cpucycles() - counted;
	own = ran_ns() - own;
	then = (then + now_rate()) / 2;
	printf("%s\t%ld\t%.2f\n", job->name, waits,
	       (double)counted / (own * then));
	load_rival_end(rival);
}

int main(void)
{
	static const unsigned long cycles[] = {9900, 30000, 90000, 300000};
	const char *text = getenv("PIECES"), *why;
	const long pieces = text != NULL ? atol(text) : 10000;
	int how;
	size_t i;

	if (!load_select() || pipe(ask) != 0 || pipe(answer) != 0)
		bench_skip("no calibrated counter here");
	why = woken_begin();
	if (why != NULL)
		bench_skip(why);
	prctl(PR_SET_TIMERSLACK, 1);
	rate = now_rate();
	*woken.awake = true;
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("work\tpieces\thidden\t< 0.95\t< 0.9\tlowest\n");
	for (how = WOKEN_FIFO; how >= WOKEN_ORDINARY; how--)
		for (i = 0; woken_set((enum woken_how)how) && i < COUNT(cycles);
		     i++)
			bench_pieces(how, cycles[i], pieces);
	woken_end();
	printf("\nwork, wait\twaits\tcounted of its own time\n");
	for (i = 0; i < COUNT(jobs); i++)
		bench_sum(&jobs[i]);
	return 0;
}
