/* SPDX-License-Identifier: 0BSD */
/* On 64-bit x86 Windows, or in Wine: the first call, raced by 64 threads; the
 * DLL loaded late, and unloaded while its threads live; faults while it probes.
 * The tests of the lock, of a probe and of a thread's clock are linked with
 * the static library, whose hidden functions they call or replace. The one
 * argument is the DLL. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "calibrated/calibration.h"
#include "cpucycles.h"
#include "thread/lock.h"
#include "system/os_clock.h"
#include "system/probe.h"
#include "system/windows/api.h"
#include "../tap.h"

#define THREADS 64
#define RACES 20
#define FAULTS 1000 /* of another thread, while this one selects */
#define LOCKS 20000 /* by each of four threads */

#define PAUSE 20 /* ms for which a thread is suspended, and is not */
#define PAUSES UINT64_C(500000000) /* ticks */
#define PAUSE_TRIES 5

static const char *dll;

struct library {
	HMODULE module;
	long long (**count)(void);
	int (*select)(const char *name);
};

/* Through memory, as there is no cast from one to the other. */
static void symbol(HMODULE module, const char *name, void *pointer)
{
	FARPROC found = GetProcAddress(module, name);

	memcpy(pointer, &found, sizeof found);
}

static struct library library_load(void)
{
	struct library l = {LoadLibraryA(dll), NULL, NULL};

	if (l.module == NULL)
		return l;
	symbol(l.module, "cpucycles", &l.count);
	symbol(l.module, "cpucycles_select", &l.select);
	return l;
}

/* What threads do all at once: count, and end. */
static struct library library;
static HANDLE begin, counted, end;
static volatile LONG counting;

/* Counts go on, and leave both errors as they were. */
static bool goes_on(long long (**count)(void))
{
	long long first, last, now;
	int i;

	errno = 17;
	SetLastError(18);
	first = last = (*count)();
	for (i = 0; i < 2000; i++) {
		now = (*count)();
		if (now < last)
			return false;
		last = now;
	}
	return last > first && errno == 17 && GetLastError() == 18;
}

static DWORD WINAPI counts(void *arg)
{
	WaitForSingleObject(begin, INFINITE);
	*(bool *)arg = goes_on(library.count);
	if (InterlockedDecrement(&counting) == 0)
		SetEvent(counted);
	WaitForSingleObject(end, INFINITE);
	return 0;
}

/* The library is unloaded before the threads end. */
static bool race(void)
{
	HANDLE thread[THREADS];
	bool good = true, on[THREADS];
	DWORD code;
	int i;

	library = library_load();
	counting = THREADS;
	begin = CreateEvent(NULL, TRUE, FALSE, NULL);
	counted = CreateEvent(NULL, TRUE, FALSE, NULL);
	end = CreateEvent(NULL, TRUE, FALSE, NULL);
	for (i = 0; i < THREADS; i++)
		thread[i] = CreateThread(NULL, 65536, counts, &on[i], 0, NULL);
	SetEvent(begin);
	WaitForSingleObject(counted, INFINITE);
	good &= FreeLibrary(library.module) && GetModuleHandleA(dll) == NULL;
	SetEvent(end);
	WaitForMultipleObjects(THREADS, thread, TRUE, INFINITE);
	for (i = 0; i < THREADS; i++) {
		good &= on[i] && GetExitCodeThread(thread[i], &code) &&
			code == 0;
		CloseHandle(thread[i]);
	}
	CloseHandle(begin);
	CloseHandle(counted);
	CloseHandle(end);
	return good;
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
	struct library l = library_load();
	void *handler = AddVectoredExceptionHandler(0, app_handler);
	long faults = 0;
	HANDLE thread = CreateThread(NULL, 0, app_faults, &faults, 0, NULL);

	while (app_handled < FAULTS)
		l.select(NULL);
	app_stop = true;
	WaitForSingleObject(thread, INFINITE);
	FreeLibrary(l.module);
	/* A handler that the library has left is not there any more. */
	illegal();
	ok(faults > 0 && app_handled == faults + 1,
	   "another thread's faults reach the program's handler, %ld of %ld",
	   app_handled - 1, faults);
	RemoveVectoredExceptionHandler(handler);
}

/* The lock: only one thread at a time adds to a sum. */
static volatile long lock_sum;

static DWORD WINAPI lock_add(void *unused)
{
	struct cpuc_caller caller;
	long sum;
	int i;

	(void)unused;
	for (i = 0; i < LOCKS; i++) {
		cpuc_lock(&caller);
		sum = lock_sum;
		if (i % 64 == 0)
			Sleep(0);
		lock_sum = sum + 1;
		cpuc_unlock(&caller);
	}
	return 0;
}

static void check_lock(void)
{
	HANDLE thread[4];
	int i;

	for (i = 0; i < 4; i++)
		thread[i] = CreateThread(NULL, 0, lock_add, NULL, 0, NULL);
	WaitForMultipleObjects(4, thread, TRUE, INFINITE);
	ok(lock_sum == 4 * LOCKS,
	   "one thread at a time has the lock: %ld of %d", lock_sum, 4 * LOCKS);
}

/* In place of the system's QueryThreadCycleTime(), which Wine has not: the TSC
 * without the ticks for which the thread was suspended, as on Windows on x86,
 * or some multiple of it.
 */
static HANDLE pause_thread;
static volatile uint64_t pause_ticks, pause_times = 1;
static volatile bool pause_stop;

static long long pause_tsc(void)
{
	return (long long)__builtin_ia32_rdtsc();
}

static BOOL WINAPI pause_clock(HANDLE thread, PULONG64 ticks)
{
	(void)thread;
	*ticks = (__builtin_ia32_rdtsc() - pause_ticks) * pause_times;
	return TRUE;
}

extern BOOL(WINAPI *const pause_import)(HANDLE, PULONG64) __asm__(
	"__imp_QueryThreadCycleTime");
BOOL(WINAPI *const pause_import)(HANDLE, PULONG64) = pause_clock;

static DWORD WINAPI pause_often(void *unused)
{
	CONTEXT context = {.ContextFlags = CONTEXT_CONTROL};
	uint64_t begun;

	(void)unused;
	while (!pause_stop) {
		Sleep(PAUSE);
		SuspendThread(pause_thread);
		/* Waits until it is. */
		GetThreadContext(pause_thread, &context);
		begun = __builtin_ia32_rdtsc();
		Sleep(PAUSE);
		pause_ticks += __builtin_ia32_rdtsc() - begun;
		ResumeThread(pause_thread);
	}
	return 0;
}

/* Counts until there were PAUSES ticks, or so many in pauses; the cycles per
 * tick that was in none. */
static double pause_ratio(bool pauses)
{
	uint64_t begun = __builtin_ia32_rdtsc(), paused = pause_ticks, now;
	long long count = cpucycles();

	do {
		cpucycles();
		now = __builtin_ia32_rdtsc();
	} while ((pauses ? pause_ticks - paused : now - begun) < PAUSES);
	count = cpucycles() - count;
	return (double)count / (double)(now - begun - (pause_ticks - paused));
}

/* Whether pauses are left out, but for a small part: the ratio is about as it
 * was before, where with half of the ticks in pauses it would be twice that. */
static bool pauses_left_out(void)
{
	HANDLE thread;
	double before, ratio;

	pause_stop = false;
	before = pause_ratio(false);
	thread = CreateThread(NULL, 0, pause_often, NULL, 0, NULL);
	ratio = pause_ratio(true);
	pause_stop = true;
	WaitForSingleObject(thread, INFINITE);
	CloseHandle(thread);
	return ratio > 0.6 * before && ratio < 1.4 * before;
}

static void check_pauses(void)
{
	struct cpucycles_counter c;
	int tries = 0;

	cpucycles_select(NULL);
	cpucycles_counterbyname(NULL, &c, sizeof c);
	ok(c.kind_id == CPUCYCLES_CALIBRATED && c.per_thread == 1,
	   "with a thread's clock, %s counts the thread alone", c.name);
	DuplicateHandle(GetCurrentProcess(), GetCurrentThread(),
			GetCurrentProcess(), &pause_thread, 0, FALSE,
			DUPLICATE_SAME_ACCESS);
	while (!pauses_left_out() && tries < PAUSE_TRIES)
		tries++;
	ok(tries < PAUSE_TRIES,
	   "pauses of %d ms are left out, at the try after %d", PAUSE, tries);
	for (pause_times = 0; pause_times <= 2; pause_times += 2)
		ok(!cpuc_calibration_thread_clock(pause_tsc, 0),
		   "a clock of %d times the rate is not the thread's",
		   (int)pause_times);
	pause_times = 1;
	ok(cpuc_calibration_thread_clock(pause_tsc, 0), "one of the same rate is");
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
	check_lock();
	check_probe();
	check_pauses();
	return done_testing();
}
