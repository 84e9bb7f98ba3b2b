/* SPDX-License-Identifier: 0BSD */
/* On 64-bit x86 Windows, or in Wine: the first call, raced by 64 threads; the
 * DLL loaded late, and unloaded while its threads live. The rest is of the
 * static library, whose hidden functions are called or replaced: faults while
 * it probes, and a thread's clock. The one argument is the DLL. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include "cpucycles.h"
#include "system/probe.h"
#include "system/windows/api.h"
#include "../tap.h"

#define THREADS 64
#define RACES 20
#define FAULTS 1000 /* of another thread, while this one selects */

static const char *dll;
static long long (**dll_cpucycles)(void);

/* Counts go on, and leave both errors as they were. */
static bool goes_on(void)
{
	long long first, last, now;
	int i;

	errno = 17;
	SetLastError(18);
	first = last = (*dll_cpucycles)();
	for (i = 0; i < 2000; i++) {
		now = (*dll_cpucycles)();
		if (now < last)
			return false;
		last = now;
	}
	return last > first && errno == 17 && GetLastError() == 18;
}

/* The application's own handler of illegal instructions. */
static volatile LONG app_handled;
static volatile bool app_stop;

static void illegal(void)
{
	__asm__ volatile("ud2");
}

static LONG CALLBACK app_handler(EXCEPTION_POINTERS *e)
{
	if (e->ExceptionRecord->ExceptionCode != EXCEPTION_ILLEGAL_INSTRUCTION)
		return EXCEPTION_CONTINUE_SEARCH;
	e->ContextRecord->Rip += 2;
	InterlockedIncrement(&app_handled);
	return EXCEPTION_CONTINUE_EXECUTION;
}

/* What threads do all at once: count, and end. */
static HANDLE begin, counted, end;
static volatile LONG counting, bad;

static DWORD WINAPI counts(void *unused)
{
	(void)unused;
	WaitForSingleObject(begin, INFINITE);
	if (!goes_on())
		bad = 1;
	if (InterlockedDecrement(&counting) == 0)
		SetEvent(counted);
	WaitForSingleObject(end, INFINITE);
	return 0;
}

/* The library is unloaded before the threads end. */
static bool race(void)
{
	HMODULE library = LoadLibraryA(dll);
	FARPROC found = GetProcAddress(library, "cpucycles");
	HANDLE thread[THREADS];
	int i;

	/* Through memory, as there is no cast from one to the other. */
	memcpy(&dll_cpucycles, &found, sizeof found);
	counting = THREADS;
	bad = 0;
	begin = CreateEvent(NULL, TRUE, FALSE, NULL);
	counted = CreateEvent(NULL, TRUE, FALSE, NULL);
	end = CreateEvent(NULL, TRUE, FALSE, NULL);
	for (i = 0; i < THREADS; i++)
		thread[i] = CreateThread(NULL, 65536, counts, NULL, 0, NULL);
	SetEvent(begin);
	WaitForSingleObject(counted, INFINITE);
	if (!FreeLibrary(library) || GetModuleHandleA(dll) != NULL)
		bad = 1;
	/* Faults there if its handler is left. */
	illegal();
	SetEvent(end);
	WaitForMultipleObjects(THREADS, thread, TRUE, INFINITE);
	for (i = 0; i < THREADS; i++)
		CloseHandle(thread[i]);
	return !bad;
}

static void check_race(void)
{
	int i, good = 0;

	for (i = 0; i < RACES; i++)
		good += race();
	ok(good == RACES,
	   "%d of %d times, %d threads share a first call, and end after the "
	   "library is unloaded",
	   good, RACES, THREADS);
}

static DWORD WINAPI app_faults(void *arg)
{
	long *faults = arg;

	while (!app_stop) {
		illegal();
		++*faults;
	}
	return 0;
}

static void check_other_faults(void)
{
	long faults = 0;
	HANDLE thread;

	app_handled = 0;
	thread = CreateThread(NULL, 0, app_faults, &faults, 0, NULL);
	while (app_handled < FAULTS)
		cpucycles_select(NULL);
	app_stop = true;
	WaitForSingleObject(thread, INFINITE);
	ok(faults > 0 && app_handled == faults,
	   "another thread's faults reach the program's handler, %ld of %ld",
	   app_handled, faults);
}

/* In place of the system's QueryThreadCycleTime(), which Wine has not: on
 * Windows on x86 it is the TSC, but for the time in which the thread did not
 * run. */
static BOOL WINAPI thread_ticks(HANDLE thread, PULONG64 ticks)
{
	(void)thread;
	*ticks = __builtin_ia32_rdtsc();
	return TRUE;
}

extern BOOL(WINAPI *const thread_import)(HANDLE, PULONG64) __asm__(
	"__imp_QueryThreadCycleTime");
BOOL(WINAPI *const thread_import)(HANDLE, PULONG64) = thread_ticks;

static void check_thread_clock(void)
{
	struct cpucycles_counter c;

	cpucycles_select(NULL);
	cpucycles_counterbyname(NULL, &c, sizeof c);
	ok(c.kind_id == CPUCYCLES_CALIBRATED && c.per_thread == 1,
	   "with a thread's clock, %s counts the thread alone", c.name);
}

static void probed_illegal(void *arg)
{
	(void)arg;
	illegal();
}

static void probed_memory(void *arg)
{
	*(volatile int *)arg = 1;
}

static void check_probe(void)
{
	cpuc_probe_begin();
	ok(cpuc_probe(probed_illegal, NULL) == SIGILL,
	   "an illegal instruction ends the probe");
	ok(cpuc_probe(probed_memory, NULL) == SIGSEGV,
	   "so does memory that is not there");
	cpuc_probe_end();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dll = argv[1];
	AddVectoredExceptionHandler(0, app_handler);
	check_race();
	check_other_faults();
	check_probe();
	check_thread_clock();
	return done_testing();
}
