/* SPDX-License-Identifier: 0BSD */
/* The system calls on perf events. */
#include <config.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "event.h"

int cpuc_event_open(const struct cpuc_event *event, uint64_t config1,
		    unsigned flags)
{
	const struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = event->type,
		.config = event->config,
		.config1 = config1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = !!(flags & CPUC_NO_KERNEL),
		.exclude_hv = !!(flags & CPUC_NO_HV),
		.pinned = !!(flags & CPUC_PINNED),
	};
	const long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
				PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static size_t event_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Removes const and volatile, which only readers of the page need. */
static void *event_address(cpuc_page *page)
{
	return (void *)(uintptr_t)page;
}

cpuc_page *cpuc_event_map(int fd, cpuc_page *old)
{
	void *page = mmap(event_address(old), event_page_size(), PROT_READ,
			  MAP_SHARED | (old != NULL ? MAP_FIXED : 0), fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

void cpuc_event_unmap(cpuc_page *page)
{
	if (page != NULL)
		munmap(event_address(page), event_page_size());
}

bool cpuc_event_blank(cpuc_page *page, bool over)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (over ? MAP_FIXED : 0);
	void *at = mmap(event_address(page), event_page_size(), PROT_READ,
			flags, -1, 0);

	if (at != MAP_FAILED && at != page)
		cpuc_event_unmap(at);
	return at == page;
}

uint64_t cpuc_event_id(int fd)
{
	uint64_t id = 0;

	syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id);
	return id;
}
