// SPDX-License-Identifier: Apache-2.0
// The minimal work of libvips for a thumbnail, in one process and without HTTP.
//
//   floor-thumbnail A|B WIDTH HEIGHT SAVER ROUNDS OUT FILE...
//
// A is vips_thumbnail_buffer. B lets the JPEG decoder shrink as far as the target allows, resamples the rest,
// and keeps premultiplied alpha in 8 bits. HEIGHT 0 keeps the proportions; otherwise the picture covers the
// box and is cut at its centre. The results of the first round go to OUT/0, OUT/1, ...
// Prints "CPU-milliseconds-per-picture peak-KiB", without the start of libvips and the reading of files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vips/vips.h>

static void fail(void) { vips_error_exit("floor-thumbnail"); }

static double milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static VipsImage *thumbnail(void *bytes, size_t count, int width, int height) {
    VipsImage *out;
    int failed = height == 0
        ? vips_thumbnail_buffer(bytes, count, &out, width, "height", VIPS_MAX_COORD, NULL)
        : vips_thumbnail_buffer(
              bytes, count, &out, width, "height", height, "crop", VIPS_INTERESTING_CENTRE, NULL);
    if (failed) fail();
    return out;
}

// Takes ownership of `in`.
static VipsImage *toUchar(VipsImage *in) {
    VipsImage *out;
    if (vips_cast_uchar(in, &out, NULL)) fail();
    g_object_unref(in);
    return out;
}

static VipsImage *resized(VipsImage *in, double across, double down) {
    VipsImage *out, *soaked;
    if (!vips_image_hasalpha(in)) {
        if (vips_resize(in, &out, across, "vscale", down, NULL)) fail();
        return out;
    }
    if (vips_premultiply(in, &out, NULL)) fail();
    soaked = toUchar(out);
    if (vips_resize(soaked, &out, across, "vscale", down, NULL)) fail();
    g_object_unref(soaked);
    if (vips_unpremultiply(out, &soaked, NULL)) fail();
    g_object_unref(out);
    return toUchar(soaked);
}

static VipsImage *leastWork(void *bytes, size_t count, int width, int height) {
    const char *loader = vips_foreign_find_load_buffer(bytes, count);
    VipsImage *head = vips_image_new_from_buffer(bytes, count, "", NULL), *in, *small, *out;
    if (!loader || !head) fail();
    double scale = (double)width / head->Xsize;
    if (height > 0) scale = fmax(scale, (double)height / head->Ysize);
    int wide = (int)floor(head->Xsize * scale + 0.5), high = (int)floor(head->Ysize * scale + 0.5);
    int shrink = 8;
    while (shrink > 1 && (head->Xsize / shrink < wide || head->Ysize / shrink < high)) shrink /= 2;
    g_object_unref(head);
    int failed = strstr(loader, "Jpeg")
        ? vips_jpegload_buffer(bytes, count, &in, "shrink", shrink, "access", VIPS_ACCESS_SEQUENTIAL, NULL)
        : !(in = vips_image_new_from_buffer(bytes, count, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL));
    if (failed) fail();
    small = resized(in, (double)wide / in->Xsize, (double)high / in->Ysize);
    g_object_unref(in);
    if (height == 0) return small;
    if (vips_extract_area(small, &out, (wide - width) / 2, (high - height) / 2, width, height, NULL)) fail();
    g_object_unref(small);
    return out;
}

// `saver` is a suffix with options, in vipsthumbnail's syntax.
static void encode(VipsImage *image, const char *saver, void **bytes, size_t *count) {
    if (vips_image_write_to_buffer(image, saver, bytes, count, NULL)) fail();
}

// The peak of this program alone; that of getrusage(2) would include the parent's before exec.
static long peakKiB(void) {
    char line[256];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file) && !sscanf(line, "VmHWM: %ld", &peak)) continue;
    if (file) fclose(file);
    return peak;
}

static void save(const char *folder, int index, const void *bytes, size_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", folder, index);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file)) perror(path), exit(1);
}

int main(int count, char **arguments) {
    if (count < 8) {
        fprintf(stderr, "usage: floor-thumbnail A|B WIDTH HEIGHT SAVER ROUNDS OUT FILE...\n");
        return 2;
    }
    if (VIPS_INIT(arguments[0])) fail();
    vips_concurrency_set(1);
    vips_cache_set_max(0);
    int width = atoi(arguments[2]), height = atoi(arguments[3]), rounds = atoi(arguments[5]);
    char **paths = arguments + 7;
    int files = count - 7;
    gchar **sources = g_new(gchar *, files);
    gsize *lengths = g_new(gsize, files);
    for (int i = 0; i < files; i++)
        if (!g_file_get_contents(paths[i], &sources[i], &lengths[i], NULL)) perror(paths[i]), exit(1);
    double start = milliseconds();
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < files; i++) {
            VipsImage *image = arguments[1][0] == 'A' ? thumbnail(sources[i], lengths[i], width, height)
                                                      : leastWork(sources[i], lengths[i], width, height);
            void *bytes;
            size_t length;
            encode(image, arguments[4], &bytes, &length);
            g_object_unref(image);
            if (round == 0) save(arguments[6], i, bytes, length);
            g_free(bytes);
        }
    double spent = milliseconds() - start;
    printf("%.4f %ld\n", spent / (rounds * files), peakKiB());
}
