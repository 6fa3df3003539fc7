// SPDX-License-Identifier: Apache-2.0
// libseccomp, with constants for its macros that look like functions.
#ifndef IMAGEPROXYD_CSECCOMP_SHIM_H
#define IMAGEPROXYD_CSECCOMP_SHIM_H

#include <errno.h>
#include <seccomp.h>

static const uint32_t SHIM_ALLOW = SCMP_ACT_ALLOW;
static const uint32_t SHIM_REFUSE = SCMP_ACT_ERRNO(EPERM);
// What a kernel says that has no such call: the C library then falls back on an older one.
static const uint32_t SHIM_DENY_KNOWLEDGE = SCMP_ACT_ERRNO(ENOSYS);

#endif
