/* SPDX-License-Identifier: 0BSD */
/* On 64-bit x86 Windows, or in Wine: the first call, raced by 64 threads; the
 * DLL loaded late, and unloaded while its threads live; faults while it probes.
 * The tests of a probe and of a thread's clock are linked with the static
 * library, whose hidden functions they call or replace. The one argument is the
 * DLL. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include "cpucycles.h"
#include "thread/lock.h"
#include "system/probe.h"
#include "system/windows/api.h"
#include "../tap.h"

#define THREADS 64
#define RACES 20
#define FAULTS 1000 /* of another thread, while this one selects */

static const char *dll;

static struct library {
	HMODULE module;
	long long (**count)(void);
	int (*select)(const char *name);
} library;

/* Through memory, as there is no cast from one to the other. */
static void symbol(const char *name, void *pointer)
{
	FARPROC found = GetProcAddress(library.module, name);

	memcpy(pointer, &found, sizeof found);
}

static void library_load(void)
{
	library.module = LoadLibraryA(dll);
	symbol("cpucycles", &library.count);
	symbol("cpucycles_select", &library.select);
}

/* Counts go on, and leave both errors as they were. */
static bool goes_on(void)
{
	long long first, last, now;
	int i;

	errno = 17;
	SetLastError(18);
	first = last = (*library.count)();
	for (i = 0; i < 2000; i++) {
		now = (*library.count)();
		if (now < last)
			return false;
		last = now;
	}
	return last > first && errno == 17 && GetLastError() == 18;
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
	HANDLE thread[THREADS];
	DWORD code;
	int i;

	library_load();
	counting = THREADS;
	bad = 0;
	begin = CreateEvent(NULL, TRUE, FALSE, NULL);
	counted = CreateEvent(NULL, TRUE, FALSE, NULL);
	end = CreateEvent(NULL, TRUE, FALSE, NULL);
	for (i = 0; i < THREADS; i++)
		thread[i] = CreateThread(NULL, 65536, counts, NULL, 0, NULL);
	SetEvent(begin);
	WaitForSingleObject(counted, INFINITE);
	if (!FreeLibrary(library.module) || GetModuleHandleA(dll) != NULL)
		bad = 1;
	SetEvent(end);
	WaitForMultipleObjects(THREADS, thread, TRUE, INFINITE);
	for (i = 0; i < THREADS; i++) {
		if (!GetExitCodeThread(thread[i], &code) || code != 0)
			bad = 1;
		CloseHandle(thread[i]);
	}
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
	void *handler = AddVectoredExceptionHandler(0, app_handler);
	long faults = 0;
	HANDLE thread = CreateThread(NULL, 0, app_faults, &faults, 0, NULL);

	library_load();
	while (app_handled < FAULTS)
		library.select(NULL);
	app_stop = true;
	WaitForSingleObject(thread, INFINITE);
	FreeLibrary(library.module);
	/* A handler that the library has left is not there any more. */
	illegal();
	ok(faults > 0 && app_handled == faults + 1,
	   "another thread's faults reach the program's handler, %ld of %ld",
	   app_handled - 1, faults);
	RemoveVectoredExceptionHandler(handler);
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

/* cpuc_probe() itself. */
static void probed_good(void *arg)
{
	*(int *)arg = 1;
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
	struct cpuc_caller caller;
	int ran = 0, sig[3];

	cpuc_lock(&caller);
	ok(cpuc_lock(&caller) == -EDEADLK, "a thread takes the lock once");
	cpuc_probe_begin();
	sig[0] = cpuc_probe(probed_good, &ran);
	sig[1] = cpuc_probe(probed_illegal, NULL);
	sig[2] = cpuc_probe(probed_memory, NULL);
	ok(sig[0] == 0 && ran, "code that does not fault returns");
	ok(sig[1] == SIGILL, "an illegal instruction ends the probe");
	ok(sig[2] == SIGSEGV, "so does memory that is not there");
	cpuc_probe_end();
	cpuc_unlock(&caller);
	ran = 0;
	ok(cpuc_probe(probed_good, &ran) != 0 && !ran,
	   "nothing is run where nobody has begun");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dll = argv[1];
	check_race();
	check_other_faults();
	check_probe();
	check_thread_clock();
	return done_testing();
}
