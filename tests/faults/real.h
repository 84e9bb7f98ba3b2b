/* SPDX-License-Identifier: 0BSD */
/* Faults that the hardware raises: a signal that is sent is not one. */
#ifndef REAL_H
#define REAL_H

#include <stddef.h>
#include <sys/mman.h>

/* SIGSEGV. */
__attribute__((unused)) static void real_access(void)
{
	static volatile char *page;

	if (page == NULL)
		page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	page[0] = 1;
}

#endif
