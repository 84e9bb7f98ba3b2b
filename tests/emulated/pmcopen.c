/* SPDX-License-Identifier: 0BSD */
/* A kernel module that lets users read the cycle counter of each CPU, outside
 * perf, and starts it: what arm64-pmc and arm32-cortex need. */
#include <linux/module.h>
#include <linux/smp.h>

#define CYCLES (1ul << 31) /* of the counters */
#define ENABLE 1ul
#define EVERY_64TH (1ul << 3)
#define USER 1ul

#ifdef CONFIG_ARM64
#define PMU_READ(reg) read_sysreg(reg##_el0)
#define PMU_WRITE(reg, value) write_sysreg(value, reg##_el0)
#define IN_HYPERVISOR (1ul << 27)
#define ALL_64_BITS (1ul << 6)
#else
#define CP15_pmcr "p15, 0, %0, c9, c12, 0"
#define CP15_pmcntenset "p15, 0, %0, c9, c12, 1"
#define CP15_pmuserenr "p15, 0, %0, c9, c14, 0"
#define CP15_pmccfiltr "p15, 0, %0, c14, c15, 7"
#define PMU_READ(reg)                                           \
	({                                                      \
		unsigned long value_;                           \
		asm volatile("mrc " CP15_##reg : "=r"(value_)); \
		value_;                                         \
	})
#define PMU_WRITE(reg, value) asm volatile("mcr " CP15_##reg : : "r"(value))
#define IN_HYPERVISOR 0ul
#define ALL_64_BITS 0ul
#endif

static void pmcopen_here(void *unused)
{
	PMU_WRITE(pmccfiltr, IN_HYPERVISOR);
	PMU_WRITE(pmcr, (PMU_READ(pmcr) | ENABLE | ALL_64_BITS) & ~EVERY_64TH);
	PMU_WRITE(pmcntenset, CYCLES);
	PMU_WRITE(pmuserenr, USER);
	isb();
}

static int __init pmcopen_init(void)
{
	on_each_cpu(pmcopen_here, NULL, 1);
	return 0;
}

module_init(pmcopen_init);
MODULE_DESCRIPTION("Lets users read the cycle counter");
MODULE_LICENSE("Dual BSD/GPL");
