/* SPDX-License-Identifier: 0BSD */
/* A program of either library: checks that it counts, and prints the library's
 * version. WITH_DLSYM makes one that was linked with neither. */
#include <stdio.h>
#include <cpucycles.h>

#ifdef WITH_DLSYM
#include <dlfcn.h>

static void *library;
#define GET(symbol) ((__typeof__(&(symbol)))dlsym(library, #symbol))
#else
#define GET(symbol) (&(symbol))
#endif

/* The error, or NULL. */
static const char *count(long long (**counter)(void))
{
	long long (*first)(void) = *counter;
	long long before = (*counter)(), after, calls = 1000000;

	do
		after = (*counter)();
	while (after == before && calls-- > 0);
	if (after <= before)
		return "the count stands still";
	/* The library has put a counter where the program looks for it. */
	if (*counter == first)
		return "every call selects";
	return NULL;
}

int main(void)
{
	const char *wrong;

#ifdef WITH_DLSYM
	library = dlopen("libcpucycles.so.1", RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	GET(cpucycles_tracesetup)();
	wrong = count(GET(cpucycles));
	if (wrong == NULL && GET(cpucycles_persecond)() < 1000000)
		wrong = "there are too few cycles in a second";
	if (wrong == NULL && *GET(cpucycles_implementation)() == '\0')
		wrong = "the counter has no name";
	if (wrong != NULL) {
		fprintf(stderr, "%s\n", wrong);
		return 1;
	}
	printf("version %s\n", GET(cpucycles_version)());
	return 0;
}
