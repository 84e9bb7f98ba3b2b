/* SPDX-License-Identifier: 0BSD */
/* For coverage: _exit writes the counts, which otherwise exit alone does. The
 * reset is for the children of vfork, whose memory is their parent's. */
#ifndef COVERAGE_H
#define COVERAGE_H

#ifdef __cplusplus
extern "C" {
#endif

void __gcov_dump(void);
void __gcov_reset(void);
void _exit(int status) __attribute__((noreturn));

__attribute__((noreturn, unused)) static void coverage_exit(int status)
{
	__gcov_dump();
	__gcov_reset();
	_exit(status);
}

#ifdef __cplusplus
}
#endif

#define _exit(status) coverage_exit(status)

#endif
