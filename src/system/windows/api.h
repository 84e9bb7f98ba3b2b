/* SPDX-License-Identifier: 0BSD */
/* The Windows API, without the macros that make plain words empty. */
#ifndef CPUC_WINDOWS_API_H
#define CPUC_WINDOWS_API_H

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#undef far
#undef near
#undef FAR
#undef NEAR

#endif
