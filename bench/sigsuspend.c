// SPDX-License-Identifier: Apache-2.0
// For bench/instructions: valgrind 3.19 writes into the mask that sigsuspend(2) gets, and libdispatch's lies
// in memory that can't be written. This one passes a copy.

#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
