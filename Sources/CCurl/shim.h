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

// libcurl copies the content.
static inline CURLcode ccurl_copy_content(CURL *handle, const void *bytes, size_t count) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    return code != CURLE_OK ? code : curl_easy_setopt(handle, CURLOPT_COPYPOSTFIELDS, count ? bytes : "");
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

// The function gets the address that libcurl is about to connect to.
static inline CURLcode ccurl_set_open_socket_function(
    CURL *handle,
    curl_socket_t (*function)(void *context, curlsocktype purpose, struct curl_sockaddr *address)) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode ccurl_set_resolver_start_function(
    CURL *handle, int (*function)(void *state, void *reserved, void *context)) {
    return curl_easy_setopt(handle, CURLOPT_RESOLVER_START_FUNCTION, function);
}

static inline CURLcode ccurl_set_prerequest_function(
    CURL *handle,
    int (*function)(void *context, char *remote, char *local, int remote_port, int local_port)) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, function);
}

// The address of the open-socket callback; longer than `struct sockaddr` for IPv6.
static inline const void *ccurl_address_bytes(const struct curl_sockaddr *address) {
    return &address->addr;
}

// Facts of one transfer; 0 if libcurl has none.

static inline long ccurl_get_long(CURL *handle, CURLINFO info) {
    long value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

static inline curl_off_t ccurl_get_offset(CURL *handle, CURLINFO info) {
    curl_off_t value = 0;
    return curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

// The state of TLS on the connection of a running transfer.
enum ccurl_tls {
    // The connection has no TLS.
    CCURL_TLS_NONE,
    // HTTP/1.1, and no byte of the received records waits to be read.
    CCURL_TLS_QUIET,
    // HTTP/1.1, and bytes wait; or the library has no such function.
    CCURL_TLS_PENDING,
    // HTTP/2, whose frames name their requests.
    CCURL_TLS_HTTP2,
};

// dlsym(3); <dlfcn.h> would remove names from Glibc's module.
extern void *dlsym(void *library, const char *name);

// Calls the OpenSSL that libcurl has loaded, by name: the program does not link it, and libcurl may use another
// library.
static inline enum ccurl_tls ccurl_tls_state(CURL *handle) {
    const struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return CCURL_TLS_PENDING;
    if (!info->internals) return CCURL_TLS_NONE;
    if (info->backend != CURLSSLBACKEND_OPENSSL) return CCURL_TLS_PENDING;
    int (*has_pending)(const void *) = (int (*)(const void *))dlsym(NULL, "SSL_has_pending");
    void (*protocol)(const void *, const unsigned char **, unsigned *) =
        (void (*)(const void *, const unsigned char **, unsigned *))dlsym(NULL, "SSL_get0_alpn_selected");
    if (!has_pending || !protocol) return CCURL_TLS_PENDING;
    const unsigned char *name = NULL;
    unsigned length = 0;
    protocol(info->internals, &name, &length);
    if (length == 2 && name[0] == 'h' && name[1] == '2') return CCURL_TLS_HTTP2;
    return has_pending(info->internals) ? CCURL_TLS_PENDING : CCURL_TLS_QUIET;
}

// OpenSSL's session of the connection of a running transfer; NULL without TLS, or with another library.
static inline const void *ccurl_session(CURL *handle) {
    const struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(handle, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || !info) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

// Called with OpenSSL's SSL_CTX before a connection's handshake.
typedef CURLcode (*ccurl_tls_function)(CURL *handle, void *context, void *watcher);
// OpenSSL's info callback: a session, an event, and its value.
typedef void (*ccurl_alert_function)(const void *session, int what, int value);

// Limits what a handshake may cost the thread: key exchanges over large groups (DHE, ffdhe2048 to ffdhe8192) take up to
// seconds. Does nothing if libcurl is built without OpenSSL.
static inline CURLcode ccurl_limit_tls_work(CURL *handle) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_SSL_CIPHER_LIST, "DEFAULT:!kDHE");
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_SSL_EC_CURVES, "X25519:P-256:P-384:P-521");
    return code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION ? CURLE_OK : code;
}

// Limits handshakes, and calls `function` with `watcher` before each; does nothing if libcurl is built without OpenSSL.
static inline CURLcode ccurl_set_tls_function(CURL *handle, ccurl_tls_function function, void *watcher) {
    CURLcode code = ccurl_limit_tls_work(handle);
    if (code != CURLE_OK) return code;
    code = curl_easy_setopt(handle, CURLOPT_SSL_CTX_FUNCTION, function);
    if (code == CURLE_NOT_BUILT_IN || code == CURLE_UNKNOWN_OPTION) return CURLE_OK;
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_SSL_CTX_DATA, watcher) : code;
}

// Has SSL_read return after each message that is no data: else one that an origin repeats without end keeps the thread
// (SSL_CTRL_CLEAR_MODE, SSL_MODE_AUTO_RETRY).
static inline int ccurl_return_after_messages(void *context) {
    long (*control)(void *, int, long, void *) = (long (*)(void *, int, long, void *))dlsym(NULL, "SSL_CTX_ctrl");
    if (!control) return 0;
    control(context, 78, 4, NULL);
    return 1;
}

// Calls `function` for each event of an SSL_CTX's sessions; ccurl_watcher returns `watcher` for them.
static inline CURLcode ccurl_watch(void *context, void *watcher, ccurl_alert_function function) {
    int (*keep)(void *, int, void *) = (int (*)(void *, int, void *))dlsym(NULL, "SSL_CTX_set_ex_data");
    void (*watch)(void *, ccurl_alert_function) = (void (*)(void *, ccurl_alert_function))dlsym(NULL, "SSL_CTX_set_info_callback");
    // Index 0 belongs to the application.
    if (!keep || !watch || keep(context, 0, watcher) != 1) return CURLE_SSL_CONNECT_ERROR;
    if (!ccurl_return_after_messages(context)) return CURLE_SSL_CONNECT_ERROR;
    watch(context, function);
    return CURLE_OK;
}

static inline void *ccurl_watcher(const void *session) {
    void *(*context)(const void *) = (void *(*)(const void *))dlsym(NULL, "SSL_get_SSL_CTX");
    void *(*kept)(const void *, int) = (void *(*)(const void *, int))dlsym(NULL, "SSL_CTX_get_ex_data");
    return context && kept ? kept(context(session), 0) : NULL;
}

// Whether the event is a received close_notify alert (SSL_CB_READ_ALERT; RFC 8446, section 6.1).
static inline int ccurl_is_end(int what, int value) { return what == 0x4004 && (value & 0xff) == 0; }

// Options of a set of transfers.
static inline CURLMcode ccurl_multi_set_long(CURLM *set, CURLMoption option, long value) {
    return curl_multi_setopt(set, option, value);
}

// The function is called when libcurl waits for a socket, or no longer does.
static inline CURLMcode ccurl_multi_set_socket_function(
    CURLM *set,
    int (*function)(CURL *handle, curl_socket_t socket, int what, void *context, void *assigned), void *context) {
    CURLMcode code = curl_multi_setopt(set, CURLMOPT_SOCKETFUNCTION, function);
    return code == CURLM_OK ? curl_multi_setopt(set, CURLMOPT_SOCKETDATA, context) : code;
}

// curl_multi_perform for a set with a socket function: that is called, too.
static inline CURLMcode ccurl_multi_perform_all(CURLM *set, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(set, running);
#pragma GCC diagnostic pop
}

#endif
