/* SPDX-License-Identifier: 0BSD */
/* terminal.h for Windows: its consoles. */
#include <config.h>
#ifdef _WIN32
#include "../../system/windows/api.h"
#include "../common/terminal.h"

#ifndef ENABLE_VIRTUAL_TERMINAL_PROCESSING
#define ENABLE_VIRTUAL_TERMINAL_PROCESSING 4
#endif

static HANDLE terminal_handle(int fd)
{
	return GetStdHandle(fd == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

/* Consoles before Windows 10 cannot. */
bool terminal_obeys(int fd)
{
	DWORD mode;

	return GetConsoleMode(terminal_handle(fd), &mode) &&
	       SetConsoleMode(terminal_handle(fd),
			      mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

bool terminal_utf8(void)
{
	DWORD mode;

	return GetConsoleMode(terminal_handle(1), &mode) &&
	       GetConsoleOutputCP() == CP_UTF8;
}

struct terminal_size terminal_size(void)
{
	CONSOLE_SCREEN_BUFFER_INFO info;

	if (!GetConsoleScreenBufferInfo(terminal_handle(1), &info))
		return (struct terminal_size){0, 0};
	return (struct terminal_size){
		info.srWindow.Right - info.srWindow.Left + 1,
		info.srWindow.Bottom - info.srWindow.Top + 1};
}

#endif
