// SPDX-License-Identifier: Apache-2.0
// The minimal work of a caching proxy whose client is libcurl: every request is a miss, is fetched on a kept connection,
// stored in a file of its own, and forwarded. One thread, one epoll; it checks, hashes and remembers nothing.
//
//   floor-miss PORT ORIGIN FOLDER
//
// ORIGIN is http://host:port without a slash at its end; the request's target is appended.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { maxDescriptors = 65536, maxRequest = 4096, maxURL = 8192, maxEvents = 64, backlog = 4096, maxBody = 1 << 20 };

// A request on its way; reused, since at most as many exist as there are connections at once.
typedef struct Miss {
    CURL *easy;
    struct Miss *next;
    int peer;
    long connection;
    size_t count;
    char body[maxBody];
} Miss;

static CURLM *multi;
static int queue;
static const char *origin, *folder;
static long serial;
static long timeout = -1;
static Miss *idle;
// The events that epoll has for a descriptor; 0 for one that it does not know.
static uint32_t watched[maxDescriptors];
// The number of the connection on a descriptor; 0 for one of libcurl's, or none.
static long peers[maxDescriptors];
static long connections;

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context) {
    Miss *miss = context;
    if (miss->count + size * count > maxBody) return 0;
    memcpy(miss->body + miss->count, bytes, size * count);
    miss->count += size * count;
    return size * count;
}

// libcurl names the events of its sockets: only changes are passed to epoll.
static int watch(CURL *easy, curl_socket_t socket, int what, void *context, void *of) {
    (void)easy, (void)context, (void)of;
    uint32_t wanted = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
    if (what == CURL_POLL_REMOVE) wanted = 0;
    struct epoll_event event = {.events = wanted, .data.fd = socket};
    int change = wanted == 0 ? EPOLL_CTL_DEL : watched[socket] == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (wanted != watched[socket]) epoll_ctl(queue, change, socket, &event);
    watched[socket] = wanted;
    return 0;
}

static int setTimeout(CURLM *handle, long milliseconds, void *context) {
    (void)handle, (void)context;
    timeout = milliseconds;
    return 0;
}

static Miss *newMiss(void) {
    Miss *miss = idle;
    if (miss) {
        idle = miss->next;
        return miss;
    }
    miss = calloc(1, sizeof *miss);
    if (!miss || !(miss->easy = curl_easy_init())) fail("memory");
    curl_easy_setopt(miss->easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(miss->easy, CURLOPT_WRITEDATA, miss);
    curl_easy_setopt(miss->easy, CURLOPT_PRIVATE, miss);
    curl_easy_setopt(miss->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(miss->easy, CURLOPT_TCP_NODELAY, 1L);
    return miss;
}

static void begin(int peer, const char *target, size_t count) {
    Miss *miss = newMiss();
    char url[maxURL];
    snprintf(url, sizeof url, "%s%.*s", origin, (int)count, target);
    miss->peer = peer;
    miss->connection = peers[peer];
    miss->count = 0;
    curl_easy_setopt(miss->easy, CURLOPT_URL, url);
    curl_multi_add_handle(multi, miss->easy);
}

// A new file, which has its name only once it is complete.
static void store(const Miss *miss) {
    char name[maxURL], part[maxURL + 8];
    snprintf(name, sizeof name, "%s/%ld", folder, ++serial);
    snprintf(part, sizeof part, "%s.part", name);
    int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || write(file, miss->body, miss->count) != (ssize_t)miss->count) fail(part);
    close(file);
    if (rename(part, name)) fail(name);
}

// A loopback connection takes an answer of this size at once; a client that does not read is cut off.
static void answer(const Miss *miss) {
    char head[256];
    if (peers[miss->peer] != miss->connection) return;
    int length = snprintf(head, sizeof head,
        "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %zu\r\n\r\n", miss->count);
    struct iovec parts[] = {{head, (size_t)length}, {(void *)miss->body, miss->count}};
    ssize_t sent = writev(miss->peer, parts, 2);
    if (sent != (ssize_t)(length + miss->count)) shutdown(miss->peer, SHUT_RDWR);
}

static void finish(void) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        Miss *miss;
        long status = 0;
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &miss);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_multi_remove_handle(multi, easy);
        if (code != CURLE_OK || status != 200) {
            fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(code), status);
            exit(1);
        }
        answer(miss);
        store(miss);
        miss->next = idle;
        idle = miss;
    }
}

static void acceptAll(int listener) {
    for (;;) {
        int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (peer < 0) return;
        if (peer >= maxDescriptors) {
            close(peer);
            continue;
        }
        int on = 1;
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        peers[peer] = ++connections;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = peer};
        epoll_ctl(queue, EPOLL_CTL_ADD, peer, &event);
    }
}

// A head comes in one piece (wrk sends it so), with one request at a time.
static void readRequest(int peer) {
    char request[maxRequest];
    ssize_t count = recv(peer, request, sizeof request, 0);
    const char *end;
    if (count < 0 && errno == EAGAIN) return;
    if (count > 4 && memcmp(request, "GET ", 4) == 0 && (end = memchr(request + 4, ' ', (size_t)count - 4))) {
        begin(peer, request + 4, (size_t)(end - request - 4));
        return;
    }
    peers[peer] = 0;
    close(peer);
}

static int listening(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address)) fail("bind");
    if (listen(listener, backlog)) fail("listen");
    return listener;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: floor-miss PORT ORIGIN FOLDER\n");
        return 2;
    }
    origin = argv[2];
    folder = argv[3];
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, setTimeout);
    int listener = listening(atoi(argv[1]));
    queue = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(queue, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        struct epoll_event events[maxEvents];
        int running, count = epoll_wait(queue, events, maxEvents, (int)timeout);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        if (count == 0) {
            timeout = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        for (int index = 0; index < count; index++) {
            int descriptor = events[index].data.fd;
            uint32_t seen = events[index].events;
            if (descriptor == listener) {
                acceptAll(listener);
            } else if (peers[descriptor] != 0) {
                readRequest(descriptor);
            } else {
                int what = (seen & (EPOLLIN | EPOLLHUP | EPOLLERR) ? CURL_CSELECT_IN : 0)
                    | (seen & EPOLLOUT ? CURL_CSELECT_OUT : 0);
                curl_multi_socket_action(multi, descriptor, what, &running);
            }
        }
        finish();
    }
}
