// SPDX-License-Identifier: Apache-2.0
// libvips, with a non-variadic function for each call that Swift cannot make (GLib's operations are variadic).
#ifndef IMAGEPROXYD_CVIPS_SHIM_H
#define IMAGEPROXYD_CVIPS_SHIM_H

#include <vips/vips.h>

#endif
