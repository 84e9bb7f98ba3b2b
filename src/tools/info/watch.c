/* SPDX-License-Identifier: 0BSD */
/* The same report every second. */
#include <config.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "terminal.h"
#include "watch.h"

/* A screen of its own, so that what was there comes back in the end. */
static const char ENTER[] = "\033[?1049h", LEAVE[] = "\033[0m\033[?1049l";
static const char HOME[] = "\033[H\033[J";

static volatile sig_atomic_t asked;

static void note(int sig)
{
	asked = sig;
}

/* Without SA_RESTART: a write that nobody reads ends too. */
static void handle(int sig)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof action);
	action.sa_handler = note;
	sigemptyset(&action.sa_mask);
	if (sigaction(sig, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
		sigaction(sig, &action, NULL);
}

static void put(const char *text, int wanted)
{
	if (wanted)
		fputs(text, stdout);
	fflush(stdout);
}

/* As if the signal had not been caught: the parent is told which it was. A
 * stopped process comes back. */
static void follow(int screen)
{
	int sig = asked;

	put(LEAVE, screen);
	asked = 0;
	signal(sig, SIG_DFL);
	raise(sig);
	/* A write that the signal cut short is no reason to end. */
	clearerr(stdout);
	handle(sig);
	put(ENTER, screen);
}

int watch(int (*report)(const struct request *r), const struct request *r,
	  int in_place)
{
	static const struct timespec second = {1, 0};
	int screen = in_place && terminal().escapes, status = 0, first = 1;

	handle(SIGINT);
	handle(SIGTERM);
	handle(SIGHUP);
	if (screen)
		handle(SIGTSTP);
	put(ENTER, screen);
	for (;;) {
		put(HOME, screen);
		put("\n", in_place && !screen && !first);
		status = report(r);
		fflush(stdout);
		if (asked == 0 && (status != 0 || ferror(stdout)))
			break;
		if (asked == 0)
			nanosleep(&second, NULL);
		if (asked != 0)
			follow(screen);
		first = 0;
	}
	put(LEAVE, screen);
	return status;
}
