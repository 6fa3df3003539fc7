// SPDX-License-Identifier: Apache-2.0
// libsystemd's notification protocol (sd_notify(3)) and inherited sockets (sd_listen_fds(3)).
#ifndef IMAGEPROXYD_CSYSTEMD_SHIM_H
#define IMAGEPROXYD_CSYSTEMD_SHIM_H

#include <systemd/sd-daemon.h>

#endif
