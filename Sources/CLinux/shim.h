// SPDX-License-Identifier: Apache-2.0
// Parts of Linux that Swift's Glibc module does not export: calls behind _GNU_SOURCE, macros, variadic functions.
// Header only: every function is `static inline`, so the target has no object file.
#ifndef IMAGEPROXYD_CLINUX_SHIM_H
#define IMAGEPROXYD_CLINUX_SHIM_H

// _GNU_SOURCE stays undefined: it renames a member of fd_set, and clang rejects the second definition beside Glibc's
// module.
#include <asm/ioctls.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Socket types: an enum that is in one Swift module or another, depending on the other imports of a target.
static const int LINUX_SOCK_STREAM = SOCK_STREAM;
static const int LINUX_SOCK_DGRAM = SOCK_DGRAM;
static const int LINUX_SOCK_CLOEXEC = SOCK_CLOEXEC;
static const int LINUX_SOCK_NONBLOCK = SOCK_NONBLOCK;

// --- Descriptors ---------------------------------------------------------------------------------------------

// The number of descriptors directly below the limit (RLIMIT_NOFILE) that are reserved for libraries, which open their
// own files: libdispatch one each second, without which it ends the process; SQLite up to eight; a name resolver four
// for each look-up; OpenSSL, systemd and the C library one now and then. An eighth of all, at least LINUX_FEWEST_KEPT,
// at most 512; none if there are too few for a daemon.
static const int LINUX_FEWEST_KEPT = 16;
static inline int linux_kept_descriptors(uint64_t all) {
    if (all < 6 * (uint64_t)LINUX_FEWEST_KEPT) return 0;
    uint64_t kept = all / 8;
    if (kept < (uint64_t)LINUX_FEWEST_KEPT) return LINUX_FEWEST_KEPT;
    return kept < 512 ? (int)kept : 512;
}

// The number of descriptors that may be open now.
static inline uint64_t linux_descriptor_limit(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

// The first descriptor that is reserved for libraries.
static inline int linux_first_scarce_descriptor(void) {
    uint64_t all = linux_descriptor_limit(), first = all - (uint64_t)linux_kept_descriptors(all);
    return first < INT_MAX ? (int)first : INT_MAX;
}

// Checks every descriptor that the daemon opens: a reserved one is closed again, and the result is EMFILE, as if there
// were no descriptor.
static inline int linux_unless_scarce(int fd) {
    if (fd < 0 || fd < linux_first_scarce_descriptor()) return fd;
    close(fd);
    errno = EMFILE;
    return -1;
}

// The same for files that are opened by the thousand: reads the limit only for every 64th.
static inline int linux_unless_scarce_often(int fd) {
    static _Thread_local int scarce;
    static _Thread_local unsigned asked;
    if (asked++ % 64 == 0) scarce = linux_first_scarce_descriptor();
    return fd < scarce ? fd : linux_unless_scarce(fd);
}

// accept4 is behind _GNU_SOURCE, which Glibc's module map was built without. Its result is not checked here: the caller
// moves a reserved descriptor to another number, or closes it.
static inline int linux_accept4(int listener, struct sockaddr *address, socklen_t *length, int flags) {
    return (int)syscall(SYS_accept4, listener, address, length, flags);
}

// memfd_create(2); close-on-exec, sealable.
static inline int linux_memfd_create(const char *name) {
    return linux_unless_scarce((int)syscall(SYS_memfd_create, name, 0x0001u | 0x0002u));
}

// preadv2(2) with one vector; `flags` may be RWF_NOWAIT (8).
static inline ssize_t linux_pread2(int fd, void *buffer, size_t count, off_t offset, int flags) {
    struct iovec vector = {buffer, count};
    return syscall(SYS_preadv2, fd, &vector, 1, (long)offset, (long)((uint64_t)offset >> 32), flags);
}

// open(2) is variadic; Swift can't call it.
static inline int linux_open(const char *path, int flags, mode_t mode) {
    return linux_unless_scarce(open(path, flags, mode));
}

// socket(2), with the check for reserved descriptors.
static inline int linux_socket(int family, int type, int protocol) {
    return linux_unless_scarce(socket(family, type, protocol));
}

// Duplicates `fd` to the lowest free number, close-on-exec.
static inline int linux_duplicate(int fd) {
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

// dup3(2), behind _GNU_SOURCE: duplicates `fd` to `number`.
static inline int linux_dup3(int fd, int number, int flags) {
    return (int)syscall(SYS_dup3, fd, number, flags);
}

static inline int linux_openat(int directory, const char *path, int flags, mode_t mode) {
    return linux_unless_scarce(openat(directory, path, flags, mode));
}

// Creates an unnamed file in `directory`, which linux_link_unnamed can name later (open(2), O_TMPFILE).
static inline int linux_open_unnamed(const char *directory, mode_t mode) {
    return linux_unless_scarce(open(directory, 020000000 | O_DIRECTORY | O_RDWR | O_CLOEXEC, mode));
}

// The path of an open descriptor (proc(5), /proc/self/fd).
static inline void linux_descriptor_path(int fd, char path[32]) {
    char digits[12];
    int count = 0, length = 14;
    memcpy(path, "/proc/self/fd/", 14);
    do { digits[count++] = (char)('0' + fd % 10); fd /= 10; } while (fd > 0);
    while (count > 0) path[length++] = digits[--count];
    path[length] = 0;
}

// Names an O_TMPFILE descriptor through /proc/self/fd, which needs no capability (open(2)).
static inline int linux_link_unnamed(int fd, int directory, const char *name) {
    char path[32];
    linux_descriptor_path(fd, path);
    return linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW);
}

// Opens a file for reading if that needs no disk access, otherwise EAGAIN: openat2(2) with RESOLVE_CACHED. Follows no
// link, and does not block on a pipe or device.
static inline int linux_open_cached(int directory, const char *path) {
    const struct { uint64_t flags, mode, resolve; } how = {
        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0, 0x20 /* RESOLVE_CACHED */};
    return linux_unless_scarce_often((int)syscall(437 /* openat2, on every architecture */, directory, path, &how, sizeof how));
}

// Opens a file for reading below `directory`, and follows no link (openat2(2), RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS,
// RESOLVE_NO_MAGICLINKS). Does not block on a pipe or device.
static inline int linux_open_beneath(int directory, const char *path) {
    const struct { uint64_t flags, mode, resolve; } how = {
        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0x08 | 0x04 | 0x02};
    return linux_unless_scarce((int)syscall(437 /* openat2, on every architecture */, directory, path, &how, sizeof how));
}

// The bytes that malloc(3) has given out (mallinfo(3)).
static inline size_t linux_heap_in_use(void) {
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

// Returns free heap memory to the kernel (malloc_trim(3)).
static inline void linux_trim_heap(void) {
    malloc_trim(0);
}

// The beginning of struct dl_phdr_info (dl_iterate_phdr(3)), which <link.h> has behind _GNU_SOURCE.
struct linux_object {
    uintptr_t address;
    const char *name;
    const Elf64_Phdr *headers;
    Elf64_Half count;
};
extern int dl_iterate_phdr(int (*visit)(struct linux_object *, size_t, void *), void *context);

static inline int linux_unmap_clean_pages_of(struct linux_object *object, size_t size, void *context) {
    (void)size, (void)context;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (const Elf64_Phdr *header = object->headers; header < object->headers + object->count; header++) {
        if (header->p_type == PT_DYNAMIC) {
            const Elf64_Dyn *entry = (const Elf64_Dyn *)(object->address + header->p_vaddr);
            for (; entry->d_tag != DT_NULL; entry++)
                if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return 0;
        }
    }
    for (const Elf64_Phdr *header = object->headers; header < object->headers + object->count; header++) {
        if (header->p_type != PT_LOAD || header->p_flags & PF_W) continue;
        const uintptr_t start = (object->address + header->p_vaddr) & -page;
        const uintptr_t end = object->address + header->p_vaddr + header->p_memsz;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

// Removes the code and constants of this program and its libraries from the process' memory. What is used later is read
// from the page cache again; what only the start needed stays out. Segments that can be written, and objects whose code
// was relocated, are left alone. Breakpoints that a debugger has set before are lost.
static inline void linux_unmap_clean_pages(void) {
    dl_iterate_phdr(linux_unmap_clean_pages_of, NULL);
}

// Limits heap fragmentation by many threads: few arenas, and large blocks directly from the kernel, which gets them
// back when they are freed (mallopt(3)). Each arena keeps up to spare_bytes of free memory at its end. A value of
// MALLOC_ARENA_MAX has precedence.
static inline void linux_bound_heap(int arenas, int large_bytes, int spare_bytes) {
    if (!getenv("MALLOC_ARENA_MAX")) mallopt(M_ARENA_MAX, arenas);
    mallopt(M_MMAP_THRESHOLD, large_bytes);
    mallopt(M_TRIM_THRESHOLD, spare_bytes);
}

// <sys/ioctl.h> would remove struct timespec from Glibc's module.
extern int ioctl(int fd, unsigned long request, ...);

// The number of bytes that a socket has accepted and its peer's host has not acknowledged (SIOCOUTQ); for a unix
// socket, that its peer has not read; negative on failure.
static inline int linux_unacknowledged(int fd) {
    int count = 0;
    return ioctl(fd, TIOCOUTQ, &count) == 0 ? count : -1;
}

// Makes a listening TCP socket ignore new connections: a filter (socket(7), SO_ATTACH_FILTER) drops segments with SYN
// and without ACK before the kernel answers them. Handshakes that have begun continue, and the accept queue is
// unchanged. Accepted sockets inherit the filter, where it has no effect. 0, or -1 with errno.
static inline int linux_ignore_new_connections(int listener) {
    const struct { uint16_t code; uint8_t if_true, if_false; uint32_t value; } program[] = {
        {0x30 /* load an octet */, 0, 0, 13 /* the flags of the TCP header */},
        {0x54 /* and */, 0, 0, 0x12 /* SYN, ACK */},
        {0x15 /* is it? */, 0, 1, 0x02 /* SYN alone */},
        {0x06 /* take so many octets */, 0, 0, 0},
        {0x06, 0, 0, UINT32_MAX},
    };
    const struct { uint16_t count; const void *program; } filter = {sizeof program / sizeof program[0], program};
    return setsockopt(listener, SOL_SOCKET, 26 /* SO_ATTACH_FILTER */, &filter, sizeof filter);
}

// The number of bytes that a TCP socket has received so far (tcp(7), TCP_INFO; tcpi_bytes_received is at byte 128 since
// Linux 4.1, beyond the C library's structure); -1 if the kernel does not report it.
static inline int64_t linux_received(int fd) {
    char facts[136];
    socklen_t length = sizeof facts;
    uint64_t count;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, facts, &length) != 0 || length < sizeof facts) return -1;
    memcpy(&count, facts + 128, sizeof count);
    return (int64_t)count;
}

// The local port of an IP socket; -1 for other descriptors. IPv4 and IPv6 have it in the same position.
static inline int linux_local_port(int fd) {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } name;
    socklen_t length = sizeof(name);
    if (getsockname(fd, &name.any, &length) != 0) return -1;
    if (name.any.sa_family != AF_INET && name.any.sa_family != AF_INET6) return -1;
    return ntohs(name.v4.sin_port);
}

// Whether bytes wait to be read on a socket: 0 none, positive some, or the peer's end of stream; -1 an error.
static inline int linux_peek(int fd) {
    char byte;
    ssize_t count = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (count >= 0) return 1;
    return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
}

// flock(2); in Swift, its name is that of the structure.
static inline int linux_flock(int fd, int operation) {
    return flock(fd, operation);
}

// CRC32C (Castagnoli, RFC 3720 appendix B.4) of `count` bytes, continuing from `crc` (0 to begin).
#if defined(__x86_64__)
#include <immintrin.h>

// The bytes of one of three blocks whose checksums are computed at the same time: an instruction can begin each cycle, but
// its result takes three.
#define LINUX_CRC_BLOCK 1024
// x^(8 · 1024 − 33) and x^(16 · 1024 − 33) modulo the polynomial, reflected: a product with it moves a checksum to the left
// of one block, or two. (33: the instruction that reduces the product adds 32, and reflection one.)
#define LINUX_CRC_PAST_ONE 0x170076FA
#define LINUX_CRC_PAST_TWO 0xA51B6135u

__attribute__((target("sse4.2,pclmul")))
static inline uint32_t linux_crc32c_hardware(uint32_t crc, const uint8_t *bytes, size_t count) {
    const __m128i past = _mm_set_epi64x(LINUX_CRC_PAST_TWO, LINUX_CRC_PAST_ONE);
    uint64_t state = (uint32_t)~crc;
    for (; count >= 3 * LINUX_CRC_BLOCK; bytes += 3 * LINUX_CRC_BLOCK, count -= 3 * LINUX_CRC_BLOCK) {
        uint64_t second = 0, third = 0;
        for (size_t at = 0; at < LINUX_CRC_BLOCK; at += 8) {
            uint64_t words[3];
            for (size_t block = 0; block < 3; block++) memcpy(&words[block], bytes + block * LINUX_CRC_BLOCK + at, 8);
            state = _mm_crc32_u64(state, words[0]);
            second = _mm_crc32_u64(second, words[1]);
            third = _mm_crc32_u64(third, words[2]);
        }
        __m128i moved = _mm_xor_si128(
            _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)state), past, 0x10),
            _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)second), past, 0x00));
        state = _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(moved)) ^ third;
    }
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        state = _mm_crc32_u64(state, word);
    }
    for (; count > 0; bytes++, count--) state = _mm_crc32_u8((uint32_t)state, *bytes);
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
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
        return linux_crc32c_hardware(crc, (const uint8_t *)bytes, count);
#endif
    return linux_crc32c_portable(crc, (const uint8_t *)bytes, count);
}

// --- Processes and messages with descriptors -----------------------------------------------------------------

// Behind _GNU_SOURCE in <spawn.h> (glibc 2.34).
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// The number of processors that this process may use (sched_setaffinity(2)), which containers and taskset(1) can
// restrict; at least 1.
static inline int linux_usable_processors(void) {
    unsigned long mask[128] = {0};
    long length = syscall(SYS_sched_getaffinity, 0, sizeof mask, mask);
    if (length <= 0) {
        long all = sysconf(_SC_NPROCESSORS_ONLN);
        return all > 0 ? (int)all : 1;
    }
    int count = 0;
    for (size_t word = 0; word < (size_t)length / sizeof mask[0]; word++) count += __builtin_popcountl(mask[word]);
    return count > 0 ? count : 1;
}

// Fills memory that malloc returns from now on with zeros, or stops doing so (mallopt(3), M_PERTURB: fills in the
// complement).
static inline void linux_clear_fresh_memory(int is_on) { mallopt(M_PERTURB, is_on ? 0xFF : 0); }

// Starts `path` with `argument` and `environment` (one string each), `socket` as descriptor 3, standard input and
// output on /dev/null, no other descriptor, default signal handling, and its own process group. Returns an errno.
static inline int linux_spawn_worker(
    const char *path, const char *argument, const char *environment, int socket, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP;
    char *arguments[] = {(char *)path, (char *)argument, NULL};
    char *variables[] = {(char *)environment, NULL};
    if ((code = posix_spawnattr_setflags(&attributes, flags)) == 0
        && (code = posix_spawnattr_setsigmask(&attributes, &none)) == 0
        && (code = posix_spawnattr_setsigdefault(&attributes, &all)) == 0
        && (code = posix_spawnattr_setpgroup(&attributes, 0)) == 0
        && (code = posix_spawn_file_actions_adddup2(&actions, socket, 3)) == 0
        && (code = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)) == 0
        && (code = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)) == 0
        && (code = posix_spawn_file_actions_addclosefrom_np(&actions, 4)) == 0)
        code = posix_spawn(pid, path, &actions, &attributes, arguments, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

// A connected pair of close-on-exec SOCK_SEQPACKET sockets: messages keep their boundaries, a closed end is an end of
// file.
static inline int linux_message_pair(int sockets[2]) {
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return -1;
    int scarce = linux_first_scarce_descriptor();
    if (sockets[0] < scarce && sockets[1] < scarce) return 0;
    close(sockets[0]);
    close(sockets[1]);
    errno = EMFILE;
    return -1;
}

#define LINUX_MAX_DESCRIPTORS 7

// Sends one message with up to LINUX_MAX_DESCRIPTORS descriptors (unix(7), SCM_RIGHTS).
static inline ssize_t linux_send_message(
    int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count) {
    union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int) * LINUX_MAX_DESCRIPTORS)]; } control;
    struct iovec vector = {(void *)bytes, count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    if (descriptor_count > 0 && descriptor_count <= LINUX_MAX_DESCRIPTORS) {
        size_t length = sizeof(int) * (size_t)descriptor_count;
        message.msg_control = control.space;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(header), descriptors, length);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

// Receives one message and its close-on-exec descriptors; with `capacity` 0 it accepts none. A message that does not
// fit is EMSGSIZE. Returns 0 when the other end is closed.
static inline ssize_t linux_receive_message(
    int socket, void *bytes, size_t count, int *descriptors, int capacity, int *descriptor_count) {
    union { struct cmsghdr header; char space[CMSG_SPACE(sizeof(int) * LINUX_MAX_DESCRIPTORS)]; } control;
    struct iovec vector = {bytes, count};
    struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
    *descriptor_count = 0;
    if (capacity >= LINUX_MAX_DESCRIPTORS) {
        message.msg_control = control.space;
        message.msg_controllen = sizeof control.space;
    }
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    if (message.msg_control != NULL) {
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
            *descriptor_count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
            memcpy(descriptors, CMSG_DATA(header), sizeof(int) * (size_t)*descriptor_count);
        }
    }
    if (message.msg_flags & MSG_TRUNC) {
        for (int index = 0; index < *descriptor_count; index++) close(descriptors[index]);
        *descriptor_count = 0;
        errno = EMSGSIZE;
        return -1;
    }
    return received;
}

// Opens the file of an open descriptor again, with its own position and rights (proc(5), /proc/self/fd).
static inline int linux_reopen(int fd, int flags) {
    char path[32];
    linux_descriptor_path(fd, path);
    return linux_unless_scarce(open(path, flags | O_CLOEXEC));
}

// Forbids all further changes of a memfd (fcntl(2), F_ADD_SEALS: seal, shrink, grow, write).
static inline int linux_seal(int fd) {
    return fcntl(fd, 1024 + 9, 0x0001 | 0x0002 | 0x0004 | 0x0008);
}

// Waits until a child has ended, without reaping it; returns 1 when it has, 0 when the time is over, -1 if the kernel
// can't report it. Polls repeatedly if there is no process descriptor.
static inline int linux_await_end(pid_t pid, int milliseconds) {
    int file = linux_unless_scarce((int)syscall(SYS_pidfd_open, pid, 0));
    if (file < 0) {
        for (int waited = 0;; waited += 5) {
            siginfo_t facts;
            facts.si_pid = 0;
            if (waitid(P_PID, (id_t)pid, &facts, WEXITED | WNOHANG | WNOWAIT) != 0) return -1;
            if (facts.si_pid == pid) return 1;
            if (waited >= milliseconds) return 0;
            usleep(5000);
        }
    }
    struct pollfd polled = {.fd = file, .events = POLLIN};
    int count;
    do count = poll(&polled, 1, milliseconds);
    while (count < 0 && errno == EINTR);
    close(file);
    return count;
}

// Makes the kernel kill this process when the thread that started it ends (prctl(2), PR_SET_PDEATHSIG).
static inline int linux_die_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

// Lets faults end the process at once: otherwise the Swift runtime would spawn a debugger for a backtrace.
static inline void linux_restore_fault_signals(void) {
    static const int faults[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    for (size_t index = 0; index < sizeof faults / sizeof *faults; index++) signal(faults[index], SIG_DFL);
}

// Lowers a resource limit permanently.
static inline int linux_limit(int resource, uint64_t value) {
    struct rlimit limit = {value, value};
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

static inline int linux_limit_address_space(uint64_t bytes) { return linux_limit(RLIMIT_AS, bytes); }
static inline int linux_forbid_core_files(void) { return linux_limit(RLIMIT_CORE, 0); }

static inline int linux_lower_priority(int niceness) {
    return setpriority(PRIO_PROCESS, 0, niceness);
}

// Limits this process; the soft limit can be raised again up to the hard one.
static inline int linux_limit_softly(int resource, uint64_t value) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) return -1;
    limit.rlim_cur = value < limit.rlim_max ? value : limit.rlim_max;
    return setrlimit((__rlimit_resource_t)resource, &limit);
}

static inline int linux_limit_address_space_softly(uint64_t bytes) { return linux_limit_softly(RLIMIT_AS, bytes); }
// Lowers both limits on open files; a lower one is unchanged.
static inline int linux_lower_file_limit(uint64_t count) {
    struct rlimit now;
    if (getrlimit(RLIMIT_NOFILE, &now) != 0) { return -1; }
    return linux_limit(RLIMIT_NOFILE, now.rlim_max < count ? now.rlim_max : count);
}

static inline int linux_limit_file_size(uint64_t bytes) { return linux_limit(RLIMIT_FSIZE, bytes); }

// Makes SIGPROF end this process after this much processor time; 0 cancels it (setitimer(2)).
static inline int linux_arm_processor_time(long microseconds) {
    long timer[4] = {0, 0, microseconds / 1000000, microseconds % 1000000};
    return (int)syscall(SYS_setitimer, 2 /* ITIMER_PROF */, timer, NULL);
}

// --- Confinement -----------------------------------------------------------------------------------------------

// No program that is started later gains rights by its file's mode (prctl(2), PR_SET_NO_NEW_PRIVS).
static inline int linux_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// Landlock (landlock(7)) by its system call numbers, which are equal on every architecture: C libraries have no
// wrappers for it, and their headers may be older than the kernel. Returns the version of the interface, or -1 without
// Landlock.
static inline int linux_landlock_version(void) {
    return (int)syscall(444, NULL, 0, 1 /* LANDLOCK_CREATE_RULESET_VERSION */);
}

// A rule set that restricts every access to files, TCP ports, abstract sockets and signals that `version` knows.
static inline int linux_landlock_ruleset(int version) {
    struct { uint64_t files, ports, scopes; } handled = {(1ULL << 13) - 1, 0, 0};
    size_t size = sizeof handled.files;
    if (version >= 2) handled.files |= 1ULL << 13; // REFER
    if (version >= 3) handled.files |= 1ULL << 14; // TRUNCATE
    if (version >= 5) handled.files |= 1ULL << 15; // IOCTL_DEV
    if (version >= 4) {
        handled.ports = 3; // BIND_TCP, CONNECT_TCP
        size = offsetof(__typeof__(handled), scopes);
    }
    if (version >= 6) {
        handled.scopes = 3; // ABSTRACT_UNIX_SOCKET, SIGNAL
        size = sizeof handled;
    }
    return (int)syscall(444, &handled, size, 0);
}

// Permits reading below an open folder.
static inline int linux_landlock_allow_reading(int ruleset, int folder) {
    struct { uint64_t access; int32_t parent; } __attribute__((packed)) rule = {
        1ULL << 2 | 1ULL << 3 /* READ_FILE, READ_DIR */, folder};
    return (int)syscall(445, ruleset, 1 /* LANDLOCK_RULE_PATH_BENEATH */, &rule, 0);
}

// Restricts the calling thread, and all threads and processes that it starts later, permanently.
static inline int linux_landlock_restrict(int ruleset) { return (int)syscall(446, ruleset, 0); }

// A descriptor that names a folder and grants no right to it.
static inline int linux_open_path(const char *path) {
    return open(path, 010000000 /* O_PATH */ | O_DIRECTORY | O_CLOEXEC);
}

// The number of threads of this process.
static inline int linux_thread_count(void) {
    struct stat facts;
    // Each thread is a folder there, and so a link (proc(5)).
    return stat("/proc/self/task", &facts) == 0 ? (int)facts.st_nlink - 2 : -1;
}

// Starts a process with the system call itself, as injected code would; the child ends at once. Returns its pid, or -1.
static inline int linux_try_fork(void) {
    long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) syscall(SYS_exit_group, 0);
    return (int)child;
}

// Attaches to another process (ptrace(2), PTRACE_SEIZE).
static inline int linux_try_attaching(pid_t pid) { return (int)syscall(SYS_ptrace, 0x4206, pid, 0, 0); }

// System calls that must be refused in a confined process, with arguments without effect.
typedef enum {
    LINUX_CALL_IO_URING,
    LINUX_CALL_EXECVEAT,
    LINUX_CALL_UNSHARE,
    LINUX_CALL_READ_OTHERS,
    LINUX_CALL_BPF,
    LINUX_CALL_USERFAULT,
    LINUX_CALL_PERF,
} LinuxCall;

// Whether a call is refused before the kernel looks at its arguments.
static inline int linux_refuses(LinuxCall call) {
    static const long numbers[] = {
        [LINUX_CALL_IO_URING] = SYS_io_uring_setup, [LINUX_CALL_EXECVEAT] = SYS_execveat,
        [LINUX_CALL_UNSHARE] = SYS_unshare, [LINUX_CALL_READ_OTHERS] = SYS_process_vm_readv,
        [LINUX_CALL_BPF] = SYS_bpf, [LINUX_CALL_USERFAULT] = SYS_userfaultfd,
        [LINUX_CALL_PERF] = SYS_perf_event_open,
    };
    return syscall(numbers[call], -1L, 0L, 0L, 0L, 0L, 0L) == -1 && errno == EPERM;
}

#endif
