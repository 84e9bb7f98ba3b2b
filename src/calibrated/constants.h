/* SPDX-License-Identifier: 0BSD */
/* The constants of calibrated counts. Differences of ratios are in 2^-20. EPYC,
 * Granite and Cascade are virtual CPUs: AMD, family 25, model 17 (Zen 4);
 * Intel, family 6, models 173 (Granite Rapids) and 85 (Cascade Lake). Include
 * calibration.h before. */
#ifndef CPUC_CONSTANTS_H
#define CPUC_CONSTANTS_H

/* One of so many parts of a second, in ticks. */
#define TICKS(parts) ((uint32_t)(cpuc_calibration.hz / (parts)))

/* The greatest share of the time that calibration may take, as one part in so
 * many: while the rate is steady, and while it changes. The rest of the first
 * is for the thread's clock, of the second for windows that confirm steps. */
#define SHARE_STILL 400u
#define SHARE_MOVING 86u
#define GLIMPSE_STILL (9 * SHARE_STILL / 4)
#define GLIMPSE_MOVING (9 * SHARE_MOVING / 4)
#define MEASUREMENT_STILL (5 * SHARE_STILL)
#define MEASUREMENT_MOVING (4 * SHARE_MOVING)

/* The least length of a window: in steps of the clock, two of which may be
 * missing, and as a part of a second, as EPYC's windows of 2.5 us scatter by
 * 0.3%. The most turns of a window. One of more ticks is of no use. */
#define WINDOW_STEPS 360
#define WINDOW_PARTS 400000
#define WINDOW_TURNS_MAX 16384
#define WINDOW_TICKS_MAX (UINT32_C(1) << 24)
/* Steps of the clock in a trial, which shows how long a turn takes. */
#define WINDOW_TRIAL 16
/* The overhead is a mean of so many windows. One whose overhead is further from
 * the mean than this part of the short run's links is left out: five steps of a
 * coarse clock, as it is uncertain by half of that. */
#define WINDOW_OVERHEADS 32
#define WINDOW_UNDISTURBED 10

/* The least length of a glimpse: in steps of the clock, in what its reads
 * scatter by at the best of some tries, and in cycles: 98 of 100 of Cascade's
 * of 192 cycles are within 1% of each other. So many show what one costs; small
 * steps show in a mean of so many. */
#define GLIMPSE_STEPS 100
#define GLIMPSE_GRAINS 40
#define GRAIN_TRIES 3
#define GLIMPSE_CYCLES 192
#define GLIMPSE_TRIES 5
#define GLIMPSE_MEAN 8
/* The next glimpse comes after this part of the time since the latest step:
 * half of Granite's rates last less than 0.3 ms, a tenth more than 4 ms. */
#define GLIMPSE_SINCE_STEP 256

/* A measurement is as long as so many windows, and has a sixth of their noise;
 * a thread's first one is shorter, for a short first call. One that differs
 * from the mean by more than noise is repeated. The next one follows soon after
 * the ratio moved, if its share of the time allows, and in a fresh thread. */
#define MEASUREMENT_LENGTH 6
#define MEASUREMENT_FIRST 3
#define MEASUREMENT_NOISE \
	(CPUC_PERMILLE(1) / 2 + cpuc_calibration.grain / MEASUREMENT_LENGTH)
#define MEASUREMENT_SOON TICKS(12500)

/* Two rates that differ by less are the same; two windows that differ by less
 * agree. */
#define STEP_LEAST CPUC_PERMILLE(5)
#define STEP_PAIR CPUC_PERMILLE(4)
/* Windows that confirm a step to a higher rate, and to a lower one: whatever
 * disturbs a window makes it longer. At the end of a long interval up to so
 * many are made, and more where that is a small part of it; a lower rate is
 * believed only if it lasts for this part of the interval, or for as long as a
 * core takes to reach its rate: Cascade leaves a lower rate after 0.8 ms. */
#define STEP_FASTER 2
#define STEP_SLOWER 3
#define STEP_WINDOWS 16u
#define STEP_LASTS 16
#define STEP_SHORT 4

/* The first ratio: rounds, windows in each, and how far these may be apart. */
#define FIRST_ROUNDS 10
#define FIRST_WINDOWS 3
#define FIRST_NEAR CPUC_PERMILLE(10)
/* Windows of another chain until one agrees, and the part of a window that each
 * lasts; the permille that one may be off, and the most that is reported. */
#define CHAIN_TRIES 8
#define CHAIN_PART 4
#define CHAIN_OFF 50
#define CHAIN_OFF_MAX 10000
/* The turns of a short run beside which what else a window takes is nothing;
 * the permille that a count of core cycles may be off then. */
#define CORE_TURNS 128
#define CORE_OFF 10

/* The thread's clock agrees with the ticks over the time of so many readings,
 * at one of so many tries. */
#define AGREE_READINGS 8
#define AGREE_TRIES 5

/* The most ticks from one reading of the thread's clock to the next; in which a
 * core reaches a new rate; the gap in which a wait may lie, where the kernel
 * reports waits and where it does not. */
#define COUNT_CLOCK TICKS(200)
#define COUNT_RAMP TICKS(1024)
#define COUNT_GAP_TOLD TICKS(2048)
#define COUNT_GAP TICKS(32768)
/* What the thread's clock lacks when the thread loses the CPU. Linux stops that
 * clock when a wakeup on another CPU asks for this one
 * (rq_clock_skip_update()), and the thread runs on until the interrupt comes:
 * on EPYC 2.7 us in the median, and 7 us in one case of a hundred. */
#define COUNT_LACK TICKS(125000)
/* What the thread's clock lacked without a switch is forgotten by this part at
 * each reading: by less if there was one, as that shows nothing. */
#define LOST_ALONE 4
#define LOST_SWITCHED 16
#define LACK_MEAN 16 /* of its share of the time */

#endif
