/* SPDX-License-Identifier: 0BSD */
/* A command of known length: work chain CYCLES [THREADS], or work loop
 * INSTRUCTIONS, in each of its threads; work timed CYCLES prints the CPU time
 * of its chain, too. Status 77: not on this CPU. And work signals COMMAND...:
 * it ignores none, whatever its caller does. */
#include <config.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../src/tools/common/known.h"

static double amount;
static int looping;

static void *work(void *unused)
{
	const struct known *last = known;
	double left = amount;

	if (looping && left > LOOP_INSTRUCTIONS)
		loop((unsigned long)left /
		     (LOOP_INSTRUCTIONS | !LOOP_INSTRUCTIONS));
	/* Not the first chain, by which cpucycles-run measures rates. */
	while (last->loop != NULL && last[1].loop != NULL)
		last++;
	for (; !looping && left > 0; left -= KNOWN_CYCLES)
		last->loop(KNOWN_CYCLES / last->turn);
	return unused;
}

static int signals(char **argv)
{
	static const int ignored[] = {SIGHUP,  SIGINT,  SIGQUIT,
				      SIGTERM, SIGUSR1, SIGUSR2};
	size_t i;

	for (i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_DFL);
	execvp(argv[0], argv);
	return 127;
}

int main(int argc, char **argv)
{
	int i, threads = argc > 3 ? atoi(argv[3]) : 1;
	const clock_t begun = clock();
	pthread_t id;

	if (argc < 2)
		return 2;
	if (argc > 2 && !strcmp(argv[1], "signals"))
		return signals(argv + 2);
	looping = !strcmp(argv[1], "loop");
	amount = argc > 2 ? strtod(argv[2], NULL) : 0;
	if (looping ? LOOP_INSTRUCTIONS == 0 : !known_usable())
		return 77;
	for (i = 1; i < threads; i++)
		if (pthread_create(&id, NULL, work, NULL) != 0)
			return 1;
	work(NULL);
	if (!strcmp(argv[1], "timed"))
		printf("work_seconds %.6f\n",
		       (double)(clock() - begun) / CLOCKS_PER_SEC);
	pthread_exit(NULL);
}
