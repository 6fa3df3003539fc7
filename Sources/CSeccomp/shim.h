// SPDX-License-Identifier: Apache-2.0
// libseccomp, with constants for its function-like macros.
#ifndef IMAGEPROXYD_CSECCOMP_SHIM_H
#define IMAGEPROXYD_CSECCOMP_SHIM_H

#include <errno.h>
#include <seccomp.h>

static const uint32_t SHIM_ALLOW = SCMP_ACT_ALLOW;
static const uint32_t SHIM_REFUSE = SCMP_ACT_ERRNO(EPERM);
// The error of a kernel without the call: the C library then falls back to an older one.
static const uint32_t SHIM_DENY_KNOWLEDGE = SCMP_ACT_ERRNO(ENOSYS);

#endif
