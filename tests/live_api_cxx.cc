/* SPDX-License-Identifier: 0BSD */
/* The API test once more, as a C++ program sees the header. */
#include "live_api.c"
