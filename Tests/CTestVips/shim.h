// SPDX-License-Identifier: Apache-2.0
// Calls of libvips with any number of arguments that tests alone use.
#ifndef IMAGEPROXYD_CTESTVIPS_SHIM_H
#define IMAGEPROXYD_CTESTVIPS_SHIM_H

#include <vips/vips.h>

// From sRGB to a profile, which is then embedded.
static inline VipsImage *test_icc_from_srgb(VipsImage *in, const char *profile) {
    VipsImage *out = NULL;
    vips_icc_transform(in, &out, profile, "input_profile", "srgb", "intent", VIPS_INTENT_RELATIVE, "depth", 8, NULL);
    return out;
}

#endif
