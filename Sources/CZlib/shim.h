// SPDX-License-Identifier: Apache-2.0
// zlib, which promises not to write to its input.
#ifndef IMAGEPROXYD_CZLIB_SHIM_H
#define IMAGEPROXYD_CZLIB_SHIM_H

#define ZLIB_CONST
#include <zlib.h>

#endif
