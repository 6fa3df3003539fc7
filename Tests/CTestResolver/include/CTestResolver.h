// SPDX-License-Identifier: Apache-2.0
#ifndef IMAGEPROXYD_CTESTRESOLVER_H
#define IMAGEPROXYD_CTESTRESOLVER_H

#include <stddef.h>

// Decides what a name in .test resolves to: writes addresses as text, separated by commas, into `answer` and returns
// how many bytes those are; 0 is "no such name". Called on whatever thread looks the name up.
typedef size_t (*test_resolver)(const char *name, char *answer, size_t capacity);

// Has all look-ups of this process for names that end in .test answered by `resolver`. To be set before the first.
void test_resolver_install(test_resolver resolver);

#endif
