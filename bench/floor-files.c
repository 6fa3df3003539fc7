// SPDX-License-Identifier: Apache-2.0
// The minimal work of a look-up by file name: opens a random entry's file from the kernel's caches, reads its length and its
// bytes, closes it. Prints the CPU microseconds of open and close alone, and of all steps.
//
//   floor-files FOLDER READS
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { shards = 256, pathLength = 48, mostBytes = 1 << 16 };

static char (*names)[pathLength];
static size_t count, room;
static uint64_t state = 88172645463325252u;

static size_t chance(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % count;
}

static double spent(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static void list(int root) {
    for (int shard = 0; shard < shards; shard++) {
        char path[pathLength];
        snprintf(path, sizeof path, "originals/%02x", shard);
        int descriptor = openat(root, path, O_RDONLY | O_DIRECTORY);
        DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
        if (!folder) continue;
        for (struct dirent *entry; (entry = readdir(folder));) {
            if (entry->d_name[0] == '.') continue;
            if (count == room) {
                room = room ? room * 2 : 1 << 14;
                names = realloc(names, room * sizeof *names);
                if (!names) exit(1);
            }
            snprintf(names[count++], pathLength, "originals/%02x/%.32s", shard, entry->d_name);
        }
        closedir(folder);
    }
}

// CPU microseconds per file. Files that are not in memory are read from the disk.
static double each(int root, int reads, int readsBody) {
    static char body[mostBytes];
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, .resolve = RESOLVE_CACHED};
    double began = spent();
    for (int done = 0; done < reads; done++) {
        const char *name = names[chance()];
        int file = syscall(SYS_openat2, root, name, &how, sizeof how);
        if (file < 0) file = openat(root, name, O_RDONLY | O_CLOEXEC);
        if (file < 0) exit(1);
        if (readsBody) {
            struct stat facts;
            fstat(file, &facts);
            struct iovec part = {body, facts.st_size < mostBytes ? facts.st_size : mostBytes};
            if (preadv2(file, &part, 1, 0, RWF_NOWAIT) < 0 && preadv(file, &part, 1, 0) < 0) exit(1);
        }
        close(file);
    }
    return (spent() - began) / reads;
}

int main(int argumentCount, char **arguments) {
    int root = argumentCount == 3 ? open(arguments[1], O_RDONLY | O_DIRECTORY) : -1;
    if (root < 0) return 64;
    list(root);
    if (count == 0) return 1;
    int reads = atoi(arguments[2]);
    // Once for the page cache.
    each(root, reads, 1);
    state = 88172645463325252u;
    double opened = each(root, reads, 0);
    state = 88172645463325252u;
    printf("%.2f %.2f\n", opened, each(root, reads, 1));
}
