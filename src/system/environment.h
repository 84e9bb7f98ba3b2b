/* SPDX-License-Identifier: 0BSD */
/* The variables of the environment. */
#ifndef CPUC_ENVIRONMENT_H
#define CPUC_ENVIRONMENT_H

/* As getenv(3); NULL also if the process has raised privileges. */
const char *cpuc_getenv(const char *name);

#endif
