// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process, counts its allocations in the first eight bytes of the file that MALLOC_COUNT_FILE names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// Allocations before the file is mapped are counted here, and never read.
static _Atomic uint64_t unread;
static _Atomic uint64_t *count = &unread;

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void tick(void) { atomic_fetch_add_explicit(count, 1, memory_order_relaxed); }

void *malloc(size_t size) {
    tick();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    tick();
    return __libc_calloc(number, size);
}

void *realloc(void *old, size_t size) {
    tick();
    return __libc_realloc(old, size);
}

int posix_memalign(void **out, size_t alignment, size_t size) {
    tick();
    *out = __libc_memalign(alignment, size);
    return *out == NULL ? 12 : 0;
}

void *aligned_alloc(size_t alignment, size_t size) {
    tick();
    return __libc_memalign(alignment, size);
}

__attribute__((constructor)) static void map_count(void) {
    const char *path = getenv("MALLOC_COUNT_FILE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *memory = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) count = memory;
}
