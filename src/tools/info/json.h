/* SPDX-License-Identifier: 0BSD */
/* The report as JSON (RFC 8259); tests/info.schema.json describes it. */
#ifndef CPUC_TOOLS_JSON_H
#define CPUC_TOOLS_JSON_H

#include <stdio.h>
#include "report.h"

int json_print(const struct request *r);

/* Writes a string, quoted; bytes that are not UTF-8 become U+FFFD. */
void json_string(FILE *file, const char *value);

#endif
