// SPDX-License-Identifier: Apache-2.0
// libcurl, with a typed function for each setter that Swift cannot call (curl_easy_setopt is variadic).
#ifndef IMAGEPROXYD_CCURL_SHIM_H
#define IMAGEPROXYD_CCURL_SHIM_H

#include <curl/curl.h>

// Options of one transfer, by the type of their value.

static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the string.
static inline CURLcode ccurl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// The list is borrowed until the next set or the handle's end.
static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccurl_set_header_function(
    CURL *handle, size_t (*function)(char *bytes, size_t size, size_t count, void *context)) {
    return curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, function);
}

static inline CURLcode ccurl_set_write_function(
    CURL *handle, size_t (*function)(char *bytes, size_t size, size_t count, void *context)) {
    return curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, function);
}

// `address` is the start of the address that is about to be connected to, `length` its length.
static inline CURLcode ccurl_set_open_socket_function(
    CURL *handle,
    curl_socket_t (*function)(void *context, curlsocktype purpose, struct curl_sockaddr *address)) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode ccurl_set_prerequest_function(
    CURL *handle,
    int (*function)(void *context, char *remote, char *local, int remote_port, int local_port)) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

// The address that libcurl hands to the open-socket callback; longer than `struct sockaddr` for IPv6.
static inline const void *ccurl_address_bytes(const struct curl_sockaddr *address) {
    return &address->addr;
}

// Facts of one transfer; 0 where libcurl has none.

static inline long ccurl_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t ccurl_get_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

// Options of a set of transfers.
static inline CURLMcode ccurl_multi_set_long(CURLM *set, CURLMoption option, long value) {
    return curl_multi_setopt(set, option, value);
}

#endif
