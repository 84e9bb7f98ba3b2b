/* SPDX-License-Identifier: 0BSD */
/* The constants of calibrated counts: choices, which tests/sim_ratio and others
 * judge, if not called a fact (measured, of a CPU or kernel, or arithmetic) or
 * a budget (what counting may cost). Differences of ratios are in 2^-20. EPYC,
 * Granite, Cascade: virtual AMD Zen 4, Intel Granite Rapids, Cascade Lake. */
#ifndef CPUC_CONSTANTS_H
#define CPUC_CONSTANTS_H

/* One of so many parts of a second, in ticks. */
#define TICKS(parts) ((uint32_t)(cpuc_calibration.hz / (parts)))

/* Budget: looking at the rate takes one part in so many of the time while that
 * is steady, and while it moves, then up to a sixth more, for windows that
 * steps spoil: cpucycles(7) rounds that up. Of it glimpses take 3/7,
 * or 4/9 while it moves, and measurements 1/5; where the rate walks 8/45 and
 * 3/5. The thread's clock and windows that confirm steps take the rest. */
#define SHARE_STILL 400u
#define SHARE_MOVING 86u
#define GLIMPSE_STILL (7 * SHARE_STILL / 3)
#define GLIMPSE_MOVING (9 * SHARE_MOVING / 4)
#define GLIMPSE_WALKING (5 * GLIMPSE_MOVING / 2)
#define MEASUREMENT_STILL (5 * SHARE_STILL)
#define MEASUREMENT_MOVING (5 * SHARE_MOVING / 3)

/* Fact: EPYC's windows of 2.5 us scatter by 0.3%. */
#define WINDOW_GRAINS 320      /* least length, in grains: two may be missing */
#define WINDOW_PARTS 400000    /* and in parts of a second */
#define WINDOW_TURNS_MAX 16384 /* budget */
#define GLIMPSE_TICKS_MAX (UINT32_C(1) << 24) /* longer: useless */
#define WINDOW_TEST 16        /* grains in a test of how long a turn takes */
#define WINDOW_OVERHEADS 16   /* windows in the mean overhead */
#define WINDOW_GLIMPSES 2     /* fact: a window has their overhead */
#define WINDOW_UNDISTURBED 10 /* its overhead is off by less of its links */

/* Facts: 98 of 100 of Cascade's glimpses of 192 cycles are within 1% of each
 * other. Half of Granite's rates last below 0.3 ms, a tenth more than 4 ms. */
#define GLIMPSE_RESOLUTIONS 71 /* least length, in the resolution, */
#define GLIMPSE_GRAINS 40      /* and in grains, which may be longer */
#define GLIMPSE_CYCLES 192     /* and in cycles */
#define GRAIN_TRIES 3          /* the best counts */
#define GLIMPSE_TRIES 5        /* to find what one costs */
#define GLIMPSE_MEAN 8         /* small steps show in a mean of so many */
#define GLIMPSE_LEARN (11 * GLIMPSE_MEAN / 2) /* part of a drift, learnt */
#define GLIMPSE_SLOW UINT64_C(2) /* so many times its cost: interrupted */
#define GLIMPSE_SINCE_STEP 256   /* the next: after this part of that time */

/* The length of measurements, in windows. The first is not so long, for a quick
 * first call. */
#define MEASUREMENT_SHORT 2u
#define MEASUREMENT_LONG 7u
#define MEASUREMENT_FIRST 3u
/* Ticks to the second one; each later gap is 1.5 times the one before. */
#define MEASUREMENT_SOON(hz) ((hz) / 12500)
#define MEASUREMENT_STEPPED 10u /* after a step: the next as if so long */
#define MEASUREMENT_GRAINS 3    /* fact: (1 + 2/7) sqrt(6) */
#define OVERHEAD_NOISE 6u       /* fact: an overhead's (tracker.c), */
#define DIFFERENCE_NOISE 4u     /* fact: or that of none */
#define MEASUREMENT_NOISE 200u  /* 0.02%, whatever the clock */
#define MEASUREMENT_FAR 12      /* off by 3.5 times what is expected, squared */
#define SCATTER_MEMORY 64       /* measurements */
#define SCATTER_FASTER 4        /* this part of it if the core seems faster */
/* The least step that windows show, in times their scatter, squared; a higher
 * rate needs no third window if it is so many times as far. */
#define SCATTER_STEP 64
#define SCATTER_SURE 2
#define LAG_PART 4      /* of the product of what two measurements are off */
#define WALK_MEMORY 22  /* measurements */
#define WALK_LEAST 250  /* 0.0015%, squared, in a millisecond */
#define WALK_STILL 4000 /* 0.006%; more is moving */
#define WALK_MOST ((UINT32_C(1) << 26) - 1) /* that its bits hold */
#define RATIO_UNKNOWN (UINT32_C(1) << 22)   /* variance: 0.2% */

/* Fact: a core leaves a lower rate within 0.8 ms of becoming busy (Cascade), so
 * a lower one is believed only if it lasts. Disturbed windows are longer. */
#define STEP_LEAST CPUC_PERMILLE(5) /* closer rates are the same */
#define STEP_PAIR CPUC_PERMILLE(4)  /* closer windows agree */
#define STEP_FASTER 2               /* windows that confirm a higher rate */
#define STEP_SLOWER 3               /* a lower one */
#define STEP_WINDOWS 16u            /* at most, at the end of a long interval */
#define STEP_LASTS 16 /* the part of it for which a lower rate must last */
#define STEP_SHORT 4  /* faster by this part: the window was too short */

#define FIRST_ROUNDS 10         /* of the first ratio: budget */
#define FIRST_WINDOWS 3         /* of a round */
#define FIRST_AGREE 2           /* of these */
#define FIRST_DELAY 65536       /* part of a second between rounds, at first */
#define FIRST_DELAY_READS 1000u /* and the most reads in it */
#define FIRST_NEAR CPUC_PERMILLE(10) /* of each other */
#define CHAIN_TRIES 8       /* windows of another chain, until one agrees */
#define CHAIN_PART 4        /* of a window that each lasts */
#define CHAIN_OFF 50        /* permille that one may be off */
#define CHAIN_OFF_MAX 10000 /* the most that is reported */

/* The thread's clock agrees with the ticks over so many readings. */
#define AGREE_READINGS 8
#define AGREE_PARTS 1000 /* of a second: a longer one was interrupted */
#define AGREE_TRIES 5

/* A thread's clock that stands still, from one reading to the next, is watched
 * for longer than Linux's longest tick. Facts: interrupts' time that is taken
 * off it afterwards makes it stand for some 10 us; the host's, with some
 * kernels, for as long as the host had it, which may be seen so often. */
#define LEAP_STANDS 4 /* less than this part of the ticks: it stands still */
#define LEAP_PART 16  /* more than they by this part, and so much: it leaps */
#define LEAP_LEAST TICKS(10000)
#define LEAP_WATCH TICKS(80) /* fact: a tick of 100 Hz, and more */
#define LEAP_WATCHES 16      /* budget */
#define LEAP_SAMPLED 4       /* budget: one of so many readings that lack */

#define COUNT_CLOCK_EVERY TICKS(200) /* the clock is read this often */
/* After a pause it is read after 1/32 of that. Each reading without a switch
 * doubles the time; a pause before any such reading halves it, down to 1/256.
 * So what the clock lacks otherwise is known before the next pause. */
#define COUNT_CLOCK_SOONER 5
#define COUNT_CLOCK_SOONEST 8
#define COUNT_CLOCK_SLOW 3 /* always so, while the clock lacks a permille */
#define COUNT_CLOCK_LEAST (COUNT_CLOCK_EVERY >> (COUNT_CLOCK_SOONER + 1))
#define COUNT_RAMP TICKS(1024)       /* fact: a core reaches its rate */
#define COUNT_GAP_CLEARS TICKS(2048) /* may have a wait, if it clears words */
#define COUNT_GAP TICKS(32768)       /* if not */
/* Facts: a thread that a wakeup on another CPU preempts is charged up to it,
 * and runs on until the interrupt comes (rq_clock_skip_update()): on EPYC for
 * 2.7 us in the median, 7 us in one case of 100; on a paravirtual Zen 5 for 12
 * to 25 us. So much counts of a pause, but in the long run this part of what
 * the thread ran, and that of so many pauses before: sched_yield() is such a
 * switch, too, and hides nothing. Where CPUID does not tell (arm64, RISC-V) the
 * machine may be virtual, and a count rather too high. */
#define SWITCH_HIDES 125000        /* part of a second */
#define SWITCH_HIDES_VIRTUAL 40000 /* the same */
#define GRANT_PART 4               /* budget */
#define GRANT_SWITCHES 512         /* budget */
/* If a switch was seen to hide this part of it, others are woken here, and all
 * is forgiven. The next so many waits hide as much then. */
#define GRANT_PROVEN 16
#define GRANT_WAITS 32
#define LOST_MOST ((UINT32_C(1) << 26) - 1) /* 13 ms at 5 GHz: its bits */
#define LOST_FADES 16  /* by this part a reading, or sums are high, */
#define LOST_STAYS 256 /* and by this if it is no more than hides */
/* Parts of the time since the clock was read. */
#define LOST_UNSEEN 256    /* so much may be lost at any time, */
#define LOST_SEEN 8        /* and so much if switches do not explain it */
#define SLOW_MORE 4        /* `slow` goes this part of the way up, a reading, */
#define SLOW_LESS 16       /* and this part down, */
#define SLOW_SWITCHED 64   /* and fades by this part after a switch */
#define SLOW_MUCH 64       /* a permille, in 2^-16 */
#define SLOW_DOUBT 2       /* it may be more by this part, */
#define SLOW_DOUBT_MOST 32 /* but not by this part of all */

#endif
