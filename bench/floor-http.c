// SPDX-License-Identifier: Apache-2.0
// The minimal work of an HTTP server on epoll: every request gets the same prepared answer, and one with
// If-None-Match gets a prepared 304. One thread, keep-alive only; it parses only the end of the head.
//
//   floor-http PORT FILE
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { maxDescriptors = 65536, maxRequest = 4096, maxEvents = 256, backlog = 4096 };

typedef struct {
    const char *bytes;
    size_t count;
} Answer;

static const char notModifiedBytes[] = "HTTP/1.1 304 Not Modified\r\nETag: \"floor\"\r\n\r\n";
static const Answer notModified = {notModifiedBytes, sizeof notModifiedBytes - 1};
static Answer full;

// The bytes still to be sent on a descriptor; an incomplete head is not stored (wrk sends it at once).
static Answer rest[maxDescriptors];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void loadAnswer(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)length + 256);
    int head = sprintf(bytes,
        "HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: %ld\r\nETag: \"floor\"\r\n\r\n",
        length);
    if (fread(bytes + head, 1, (size_t)length, file) != (size_t)length) fail(path);
    fclose(file);
    full = (Answer){bytes, (size_t)head + (size_t)length};
}

static int listening(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address)) fail("bind");
    if (listen(listener, backlog)) fail("listen");
    return listener;
}

static void acceptAll(int queue, int listener) {
    for (;;) {
        int peer = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
        if (peer < 0) return;
        if (peer >= maxDescriptors) {
            close(peer);
            continue;
        }
        int on = 1;
        setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        rest[peer] = (Answer){NULL, 0};
        struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.fd = peer};
        epoll_ctl(queue, EPOLL_CTL_ADD, peer, &event);
    }
}

// Returns 0 when the connection is to be closed.
static int sendRest(int peer) {
    while (rest[peer].count > 0) {
        ssize_t sent = send(peer, rest[peer].bytes, rest[peer].count, MSG_NOSIGNAL);
        if (sent < 0) return errno == EAGAIN;
        rest[peer].bytes += sent;
        rest[peer].count -= (size_t)sent;
    }
    return 1;
}

static int answer(int peer) {
    char request[maxRequest];
    ssize_t count = recv(peer, request, sizeof request - 1, 0);
    if (count == 0) return 0;
    if (count < 0) return errno == EAGAIN;
    request[count] = 0;
    if (!memmem(request, (size_t)count, "\r\n\r\n", 4)) return 1;
    rest[peer] = strstr(request, "If-None-Match:") ? notModified : full;
    return sendRest(peer);
}

int main(int count, char **arguments) {
    if (count != 3) return fprintf(stderr, "usage: floor-http PORT FILE\n"), 2;
    loadAnswer(arguments[2]);
    int listener = listening(atoi(arguments[1]));
    int queue = epoll_create1(0);
    struct epoll_event own = {.events = EPOLLIN, .data.fd = listener}, events[maxEvents];
    epoll_ctl(queue, EPOLL_CTL_ADD, listener, &own);
    for (;;) {
        int ready = epoll_wait(queue, events, maxEvents, -1);
        for (int i = 0; i < ready; i++) {
            int peer = events[i].data.fd;
            if (peer == listener) {
                acceptAll(queue, listener);
                continue;
            }
            int lives = rest[peer].count > 0 ? sendRest(peer) : 1;
            if (lives && rest[peer].count == 0 && events[i].events & EPOLLIN) lives = answer(peer);
            if (!lives) close(peer);
        }
    }
}
