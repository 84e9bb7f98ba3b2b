/* SPDX-License-Identifier: 0BSD */
/* The report as JSON; tests/info.schema.json describes it. */
#ifndef CPUC_TOOLS_REPORT_JSON_H
#define CPUC_TOOLS_REPORT_JSON_H

#include "report.h"

int report_json(const struct request *r);

#endif
