/* SPDX-License-Identifier: 0BSD */
/* The constants of calibrated counts: what each is, in which unit, and where it
 * was measured. tests/mechanisms names the test that misses it. Differences of
 * ratios are in 2^-20; EPYC is an AMD EPYC of family 25, model 17 (Zen 4), and
 * Granite a Xeon of family 6, model 173 (Granite Rapids), both virtual. To be
 * included after calibration.h. */
#ifndef CPUC_CONSTANTS_H
#define CPUC_CONSTANTS_H

/* So many parts of a second, in ticks. */
#define TICKS(parts) ((uint32_t)(cpuc_calibration.hz / (parts)))

/* The greatest share of the time that all may take, one part in so many: while
 * the rate stands still, and while it moves. Of the first, looks take a fifth
 * and measurements a quarter; the rest is for the thread's clock. Of the
 * second, looks take four ninths; the rest is for windows that confirm steps.
 */
#define SHARE_STILL 400u
#define SHARE_MOVING 86u
#define LOOK_STILL (5 * SHARE_STILL)
#define LOOK_MOVING (9 * SHARE_MOVING / 4)
#define MEASUREMENT_STILL (4 * SHARE_STILL)

/* A window: steps of the clock, at least, of which two may be missing; parts of
 * a second, at least, as EPYC's windows of 2.5 us scatter by 0.3%; turns, at
 * most. */
#define WINDOW_STEPS 360
#define WINDOW_PARTS 400000
#define WINDOW_TURNS_MAX 16384
/* Steps of the clock in one that shows how long a turn takes. */
#define WINDOW_TRIAL 16
/* Windows in the mean of what they take beyond their links; in each that is
 * no further from it than this part of a look: five steps of a coarse clock, as
 * it is uncertain by half of that. */
#define WINDOW_OVERHEADS 32
#define WINDOW_UNDISTURBED 16

/* A look: steps of the clock, and cycles, at least: Granite's windows of 1200
 * are off by 0.8%. How many show what one costs. */
#define LOOK_STEPS 80
#define LOOK_CYCLES 1200
#define LOOK_TRIES 3
/* The part of the time since the latest step after which another look comes:
 * half of Granite's rates last less than 0.3 ms, a tenth more than 4 ms. */
#define LOOK_SINCE_STEP 64

/* A measurement is so many windows long: a sixth of the noise; a thread's first
 * call takes less long. The next one comes that soon after the ratio moved, and
 * in a fresh thread. */
#define MEASUREMENT_LENGTH 6
#define MEASUREMENT_FIRST 3
#define MEASUREMENT_MOVED TICKS(140)
#define MEASUREMENT_SOON TICKS(12500)

/* Rates that differ by less are one; so are those of two windows. */
#define STEP_LEAST CPUC_PERMILLE(5)
#define STEP_PAIR CPUC_PERMILLE(4)
/* Windows that show a step to a higher rate, and to a lower one: whatever
 * disturbs them makes them longer. */
#define STEP_FASTER 2
#define STEP_SLOWER 3

/* Measurements that their noise is a mean of. */
#define FILTER_MEAN 16

/* The process's first ratio: rounds, of so many windows. */
#define FIRST_ROUNDS 10
#define FIRST_WINDOWS 3
#define FIRST_NEAR CPUC_PERMILLE(10)
/* Windows of another chain until one agrees, a quarter as long; permille by
 * which it may be off, either way; no difference is said to be larger. */
#define CHAIN_TRIES 8
#define CHAIN_PART 4
#define CHAIN_OFF 50
#define CHAIN_OFF_MAX 10000

/* Ticks from one reading of the thread's clock to the next, at most; in which a
 * core gets to a new rate; and between two calls in which a wait may lie, where
 * the kernel reports waits and where it does not. */
#define COUNT_CLOCK TICKS(400)
#define COUNT_RAMP TICKS(1024)
#define COUNT_GAP_TOLD TICKS(2048)
#define COUNT_GAP TICKS(32768)
/* What the thread's clock lacks when the thread loses the CPU. Linux stops that
 * clock when a wakeup on another CPU asks for this one
 * (rq_clock_skip_update()), and the thread runs on until the interrupt comes:
 * EPYC, 2.7 us in the median, 7 in 99 of 100. */
#define COUNT_LACK TICKS(125000)
/* No time between two looks is longer. */
#define COUNT_LONG TICKS(16)

#endif
