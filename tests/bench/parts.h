/* SPDX-License-Identifier: 0BSD */
/* How long the parts of a first call take. */
#ifndef PARTS_H
#define PARTS_H

enum part {
	PART_OTHER,
	PART_HANDLERS,
	PART_FREQUENCY,
	PART_PROBING,
	PART_CALIBRATING,
	PARTS
};

extern const char *const parts_name[PARTS];

/* Times begin here. */
void parts_begin(void);

/* And end: the nanoseconds since, and in *ns of each part. */
long long parts_end(long long ns[PARTS]);

#endif
