// SPDX-License-Identifier: Apache-2.0
// libcurl, with a typed function for each setter that Swift cannot call (curl_easy_setopt is variadic).
#ifndef IMAGEPROXYD_CCURL_SHIM_H
#define IMAGEPROXYD_CCURL_SHIM_H

#include <curl/curl.h>

#endif
