// SPDX-License-Identifier: Apache-2.0
// cmark-gfm: CommonMark with the tables, strikethrough and autolinks of GitHub.
#ifndef IMAGEPROXYD_CMARKDOWN_SHIM_H
#define IMAGEPROXYD_CMARKDOWN_SHIM_H

#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>

#endif
