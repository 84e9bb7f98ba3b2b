/* SPDX-License-Identifier: 0BSD */
/* Keeps the cycle counter of the first CPU counting, as root, until the machine
 * ends: what riscv64-rdcycle needs. With perf_user_access 1 an event that is
 * mapped opens the register to all; perf_user_access 2, afterwards, leaves it
 * open. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd,
		 0) == MAP_FAILED ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) != 0) {
		perror("hold");
		return 1;
	}
	if (fork() == 0)
		for (;;)
			pause();
	return 0;
}
