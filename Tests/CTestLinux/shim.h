// SPDX-License-Identifier: Apache-2.0
// Parts of Linux, behind _GNU_SOURCE like those of CLinux, that tests alone use.
#ifndef IMAGEPROXYD_CTESTLINUX_SHIM_H
#define IMAGEPROXYD_CTESTLINUX_SHIM_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

// prlimit(2); sets the limits of another process.
static inline int test_prlimit(pid_t pid, int resource, const struct rlimit *limits) {
    return (int)syscall(SYS_prlimit64, pid, resource, limits, NULL);
}

// pipe2(2); close-on-exec from the beginning, so that no process spawned meanwhile keeps an end open.
static inline int test_pipe(int ends[2]) {
    return (int)syscall(SYS_pipe2, ends, O_CLOEXEC);
}

#endif
