/* SPDX-License-Identifier: 0BSD */
/* Windows' functions, without the words that their header makes empty. */
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
