/* SPDX-License-Identifier: 0BSD */
/* The interface that this library shares with the original one, and no more. */
#ifndef DROPIN_CPUCYCLES_H
#define DROPIN_CPUCYCLES_H

extern long long (*cpucycles)(void);
extern const char *cpucycles_implementation(void);
extern const char *cpucycles_version(void);
extern long long cpucycles_persecond(void);
extern void cpucycles_tracesetup(void);

#endif
