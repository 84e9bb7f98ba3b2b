/* SPDX-License-Identifier: 0BSD */
/* Numbers in text files: one unsigned decimal number, in any locale. */
#ifndef CPUC_NUMBER_H
#define CPUC_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* The rates that are believed, in Hz. */
#define CPUC_HZ_MIN UINT64_C(1000000)
#define CPUC_HZ_MAX UINT64_C(100000000000)

/* The rate in Hz that text[0..len) states, to the nearest Hz: white space,
 * digits with an optional point and an optional exponent, then `unit` (may
 * be ""; blanks before it are allowed) and white space, nothing else. The
 * number is in units of 10^exp10 Hz (kHz: 3).
 * 0 when it is anything else or outside CPUC_HZ_MIN ... CPUC_HZ_MAX, taken
 * exactly: 999999.9 is outside. */
uint64_t cpuc_parse_hz(const char *text, size_t len, int exp10,
		       const char *unit);

#endif
