/* SPDX-License-Identifier: 0BSD */
/* probe.h for Windows: a vectored exception handler, which runs before handlers
 * in stack frames. It leaves exceptions of other code to other handlers. */
#include <config.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include "../context.h"
#include "../probe.h"
#include "../../thread/guard.h"
#include "api.h"

static void *probe_handler; /* NULL: none is installed */
static DWORD probe_owner;   /* the thread between begin and end; 0: none */

struct probe_frame {
	jmp_buf env;
	volatile int sig; /* what ended it, or 0 */
};
static struct probe_frame *volatile probe_probed; /* the owner's */

/* The signal that other systems would raise; 0: not a fault of the code. */
static int probe_signal(DWORD code)
{
	switch (code) {
	case EXCEPTION_ILLEGAL_INSTRUCTION:
		return SIGILL;
	case EXCEPTION_PRIV_INSTRUCTION:
	case EXCEPTION_ACCESS_VIOLATION:
	case EXCEPTION_IN_PAGE_ERROR:
	case EXCEPTION_DATATYPE_MISALIGNMENT:
		return SIGSEGV;
	case EXCEPTION_INT_DIVIDE_BY_ZERO:
	case EXCEPTION_INT_OVERFLOW:
		return SIGFPE;
	default:
		return 0;
	}
}

static CPUC_LANDING void probe_land(void)
{
	longjmp(probe_probed->env, 1);
}

static LONG CALLBACK probe_on_exception(EXCEPTION_POINTERS *e)
{
	const int sig = probe_signal(e->ExceptionRecord->ExceptionCode);

	if (sig == 0 || probe_probed == NULL ||
	    __atomic_load_n(&probe_owner, __ATOMIC_RELAXED) !=
		    GetCurrentThreadId())
		return EXCEPTION_CONTINUE_SEARCH;
	probe_probed->sig = sig;
	CPUC_GO_ON(e->ContextRecord, probe_land);
	return EXCEPTION_CONTINUE_EXECUTION;
}

void cpuc_probe_begin(void)
{
	probe_probed = NULL;
	__atomic_store_n(&probe_owner, GetCurrentThreadId(), __ATOMIC_RELAXED);
	probe_handler = AddVectoredExceptionHandler(1, probe_on_exception);
}

void cpuc_probe_end(void)
{
	if (probe_handler != NULL)
		RemoveVectoredExceptionHandler(probe_handler);
	probe_handler = NULL;
	__atomic_store_n(&probe_owner, 0, __ATOMIC_RELAXED);
}

int cpuc_probe(void (*fn)(void *), void *arg)
{
	struct probe_frame frame = {.sig = 0};
	const bool inside = cpuc_guard_inside;

	if (probe_handler == NULL ||
	    __atomic_load_n(&probe_owner, __ATOMIC_RELAXED) !=
		    GetCurrentThreadId())
		return SIGSYS;
	/* With NULL for the frame, longjmp() does not unwind the stack, on
	 * which a fault may have left anything. On 32-bit x86 it never does. */
	if (_setjmp(frame.env, NULL) == 0) {
		probe_probed = &frame;
		fn(arg);
	} else {
		cpuc_guard_inside = inside;
	}
	probe_probed = NULL;
	return frame.sig;
}
