// SPDX-License-Identifier: Apache-2.0
// What Linux has and Swift's Glibc module does not export: calls behind _GNU_SOURCE, macros, variadic functions.
// Header only: every function is `static inline`, so the target has no object of its own.
#ifndef IMAGEPROXYD_CLINUX_SHIM_H
#define IMAGEPROXYD_CLINUX_SHIM_H

// _GNU_SOURCE stays undefined: it renames a member of fd_set, and clang refuses the second definition beside Glibc's module.
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

// accept4 is behind _GNU_SOURCE, which Glibc's module map was built without.
static inline int linux_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
    return (int)syscall(SYS_accept4, listener, address, length, flags);
}

// memfd_create(2); close-on-exec, sealable.
static inline int linux_memfd_create(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 0x0001u | 0x0002u);
}

// preadv2(2) with one vector; `flags` may be RWF_NOWAIT (8).
static inline ssize_t linux_pread2(int fd, void *buffer, size_t count, off_t offset, int flags) {
    struct iovec vector = {buffer, count};
    return syscall(SYS_preadv2, fd, &vector, 1, (long)offset, (long)((uint64_t)offset >> 32), flags);
}

// open(2) is variadic, which Swift cannot call.
static inline int linux_open(const char *path, int flags, mode_t mode) {
    return open(path, flags, mode);
}

static inline int linux_openat(int directory, const char *path, int flags, mode_t mode) {
    return openat(directory, path, flags, mode);
}

// An unnamed file in `directory` that linux_link_unnamed can give a name to later (open(2), O_TMPFILE).
static inline int linux_open_unnamed(const char *directory, mode_t mode) {
    return open(directory, 020000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode);
}

// Names an O_TMPFILE descriptor through /proc/self/fd, which needs no capability (open(2)).
static inline int linux_link_unnamed(int fd, int directory, const char *name) {
    char path[32] = "/proc/self/fd/";
    char digits[12];
    int count = 0, length = 14;
    do { digits[count++] = (char)('0' + fd % 10); fd /= 10; } while (fd > 0);
    while (count > 0) path[length++] = digits[--count];
    path[length] = 0;
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

// Opens a file for reading if that needs no wait for the disk, else EAGAIN: openat2(2) with RESOLVE_CACHED.
static inline int linux_open_cached(int directory, const char *path) {
    const struct { uint64_t flags, mode, resolve; } how = {O_RDONLY | O_CLOEXEC, 0, 0x20 /* RESOLVE_CACHED */};
    return (int)syscall(437 /* openat2, on every architecture */, directory, path, &how, sizeof how);
}

// flock(2), whose name Swift gives to the structure.
static inline int linux_flock(int fd, int operation) {
    return flock(fd, operation);
}

// CRC32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, continuing from `crc` (0 to begin).
#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static inline uint32_t linux_crc32c_hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
    uint64_t state = (uint32_t)~crc;
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        state = __builtin_ia32_crc32di(state, word);
    }
    for (; count > 0; bytes++, count--) state = __builtin_ia32_crc32qi((uint32_t)state, *bytes);
    return ~(uint32_t)state;
}
#endif

static inline uint32_t linux_crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t count) {
    crc = ~crc;
    for (; count > 0; bytes++, count--) {
        crc ^= *bytes;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82F63B78u & (0u - (crc & 1u)));
    }
    return ~crc;
}

static inline uint32_t linux_crc32c(uint32_t crc, const void *bytes, size_t count) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return linux_crc32c_hardware(crc, (const uint8_t *)bytes, count);
#endif
    return linux_crc32c_portable(crc, (const uint8_t *)bytes, count);
}

#endif
