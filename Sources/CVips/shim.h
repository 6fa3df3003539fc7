// SPDX-License-Identifier: Apache-2.0
// libvips, with a non-variadic function for each call that Swift can't make (GLib's operations are variadic).
//
// Conventions: every function borrows its images; one that creates an image returns a new reference, or NULL with the
// reason in libvips' error buffer.
#ifndef IMAGEPROXYD_CVIPS_SHIM_H
#define IMAGEPROXYD_CVIPS_SHIM_H

#include <dlfcn.h>
#include <gio/gio.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <vips/vips.h>

#include "jpeg-eighth.h"

// A function with these parameters that makes an image, `out`, by one operation.
#define SHIM_IMAGE(name, parameters, operation) \
    static inline VipsImage *name parameters { \
        VipsImage *out = NULL; \
        operation; \
        return out; \
    }

// --- Library -------------------------------------------------------------------------------------------------

// GLib's warnings would write untrusted text to the log; relevant failures are returned as errors.
static inline void shim_ignore_message(
    const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data) {
    (void)domain, (void)level, (void)message, (void)data;
}

// As in <dlfcn.h>, where it is behind _GNU_SOURCE.
typedef struct {
    const char *file;
    void *base;
    const char *name;
    void *address;
} ShimAddress;
extern int shim_dladdr(const void *address, ShimAddress *info) __asm__("dladdr");

// Writes the folder of libvips' modules, which is beside the library; returns 0, or -1 if there is none.
static inline int shim_module_folder(char *path, size_t size) {
    ShimAddress library;
    if (!shim_dladdr((const void *)vips_version, &library) || !library.file) return -1;
    const char *end = strrchr(library.file, '/');
    if (!end) return -1;
    int length = snprintf(path, size, "%.*s/vips-modules-%d.%d", (int)(end - library.file), library.file,
        vips_version(0), vips_version(1));
    return length > 0 && (size_t)length < size && access(path, X_OK) == 0 ? 0 : -1;
}

// Equals GLib's g_module_open, which would need another library.
static inline void shim_load_module(const char *folder, const char *name) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/vips-%s.so", folder, name);
    void *module = length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_LAZY) : NULL;
    const char *(*begin)(void *) = module ? (const char *(*)(void *))dlsym(module, "g_module_check_init") : NULL;
    if (begin) begin(NULL);
}

// Starts libvips for one job at a time: no operation cache, no files kept open, no coder of the untrusted list.
//
// Loads all its modules, or, in a process without other threads, only those for HEIF and JPEG XL: the others (PDF,
// slides, ImageMagick) load more code than all the rest. The environment variable has to be set for that during the
// call.
static inline int shim_start(int threads, int is_alone) {
    char folder[PATH_MAX];
    g_log_set_default_handler(shim_ignore_message, NULL);
    int chooses = is_alone && shim_module_folder(folder, sizeof folder) == 0;
    if (chooses) setenv("VIPSHOME", "/nonexistent", 1);
    int code = VIPS_INIT("imageproxyd");
    if (chooses) unsetenv("VIPSHOME");
    if (code != 0) return -1;
    // Before coders are blocked, which affects only loaded ones.
    if (chooses) shim_load_module(folder, "heif");
    if (chooses) shim_load_module(folder, "jxl");
    vips_concurrency_set(threads);
    vips_cache_set_max(0);
    vips_cache_set_max_mem(0);
    vips_cache_set_max_files(0);
    vips_block_untrusted_set(TRUE);
    vips_operation_block_set("VipsForeignLoadMagick", TRUE);
    vips_operation_block_set("VipsForeignSaveMagick", TRUE);
    return 0;
}

// Permits one coder of libvips' untrusted list, and its subclasses, by class name.
static inline void shim_unblock(const char *class_name) {
    vips_operation_block_set(class_name, FALSE);
}

// --- Reading -------------------------------------------------------------------------------------------------
// Always from top to bottom: random access would write large pictures to temporary files.

// A source of `length` bytes from malloc; frees them with its last reference, or here if it fails.
static inline VipsSource *shim_source_adopting(void *bytes, size_t length) {
    VipsBlob *blob = vips_blob_new((VipsCallbackFn)vips_area_free_cb, bytes, length);
    VipsSource *source = vips_source_new_from_blob(blob);
    vips_area_unref(VIPS_AREA(blob));
    return source;
}

#define SHIM_READ "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR

// libvips' own reader.
SHIM_IMAGE(shim_load_jpeg_plain, (VipsSource *source, int shrink),
    vips_jpegload_source(source, &out, "shrink", shrink, SHIM_READ, NULL))

static inline VipsImage *shim_load_jpeg(VipsSource *source, int shrink) {
    VipsImage *out = shim_load_jpeg_plain(source, shrink);
    VipsImage *eighth = out && shrink == 8 ? shim_jpeg_eighth(source, out) : NULL;
    if (!eighth) return out;
    g_object_unref(out);
    return eighth;
}

SHIM_IMAGE(shim_load_png, (VipsSource *source), vips_pngload_source(source, &out, SHIM_READ, NULL))

// This decoder returns its pixels only as a whole: beyond 100 MiB libvips would write them to a temporary file, which a
// confined worker can't. Pixels in memory are not read row by row, so this option is used for no other decoder.
SHIM_IMAGE(shim_load_webp, (VipsSource *source, int page, int count, double scale),
    vips_webpload_source(source, &out, "page", page, "n", count, "scale", scale, "memory", TRUE, SHIM_READ, NULL))

SHIM_IMAGE(shim_load_gif, (VipsSource *source, int page, int count),
    vips_gifload_source(source, &out, "page", page, "n", count, SHIM_READ, NULL))

// A negative page means the primary picture. Sides may be up to 65,535 instead of 16,384: the daemon checks its own
// limits before a pixel is decoded.
static inline VipsImage *shim_load_heif(VipsSource *source, int page) {
    VipsImage *out = NULL;
    if (page < 0) vips_heifload_source(source, &out, "unlimited", TRUE, SHIM_READ, NULL);
    else vips_heifload_source(source, &out, "page", page, "n", 1, "unlimited", TRUE, SHIM_READ, NULL);
    return out;
}

SHIM_IMAGE(shim_load_tiff, (VipsSource *source, int page),
    vips_tiffload_source(source, &out, "page", page, "n", 1, SHIM_READ, NULL))

SHIM_IMAGE(shim_load_jxl, (VipsSource *source), vips_jxlload_source(source, &out, SHIM_READ, NULL))

SHIM_IMAGE(shim_load_svg, (VipsSource *source, double scale),
    vips_svgload_source(source, &out, "scale", scale, SHIM_READ, NULL))

// The decompressed length of a zlib stream of `length` bytes, counted a little beyond `limit`; damage ends the stream.
static inline size_t shim_unpacked_length(const void *bytes, size_t length, size_t limit) {
    GConverter *unpacker = G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB));
    char scratch[1 << 14];
    size_t read = 0, written = 0;
    GConverterResult result = G_CONVERTER_CONVERTED;
    while (result == G_CONVERTER_CONVERTED && written <= limit) {
        gsize in = 0, out = 0;
        GError *error = NULL;
        result = g_converter_convert(unpacker, (const char *)bytes + read, length - read, scratch,
            sizeof scratch, G_CONVERTER_INPUT_AT_END, &in, &out, &error);
        g_clear_error(&error);
        read += in, written += out;
    }
    g_object_unref(unpacker);
    return written;
}

// --- Making --------------------------------------------------------------------------------------------------

// An image with one band of 8 bits, copied from `bytes`.
static inline VipsImage *shim_image_copying(const void *bytes, size_t length, int width, int height, int bands) {
    VipsImage *image =
        vips_image_new_from_memory_copy(bytes, length, width, height, bands, VIPS_FORMAT_UCHAR);
    if (image) image->Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB;
    return image;
}

static inline void shim_free_with_image(VipsImage *image, void *bytes) {
    (void)image;
    g_free(bytes);
}

// An image with bands of 8 bits in `bytes` from g_malloc, which are freed with the image, or here if it fails.
static inline VipsImage *shim_image_adopting(void *bytes, size_t length, int width, int height, int bands) {
    VipsImage *image = vips_image_new_from_memory(bytes, length, width, height, bands, VIPS_FORMAT_UCHAR);
    if (!image) {
        g_free(bytes);
        return NULL;
    }
    g_signal_connect(image, "postclose", G_CALLBACK(shim_free_with_image), bytes);
    image->Type = VIPS_INTERPRETATION_sRGB;
    return image;
}

// An image of one colour with the size and resolution of `like`.
static inline VipsImage *shim_uniform(VipsImage *like, const double *colour, int bands) {
    VipsImage *out = vips_image_new_from_image(like, colour, bands);
    if (!out) return NULL;
    VipsImage *cast = NULL;
    vips_cast(out, &cast, VIPS_FORMAT_UCHAR, NULL);
    g_object_unref(out);
    if (!cast) return NULL;
    vips_copy(cast, &out, "interpretation", bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB, NULL);
    g_object_unref(cast);
    return out;
}

// --- Geometry ------------------------------------------------------------------------------------------------

SHIM_IMAGE(shim_crop, (VipsImage *in, int left, int top, int width, int height),
    vips_extract_area(in, &out, left, top, width, height, NULL))

SHIM_IMAGE(shim_smart_crop, (VipsImage *in, int width, int height, int entropy),
    vips_smartcrop(in, &out, width, height, "interesting", entropy ? VIPS_INTERESTING_ENTROPY :
        VIPS_INTERESTING_ATTENTION, NULL))

// Quarter turns clockwise, 1–3.
SHIM_IMAGE(shim_quarter_turns, (VipsImage *in, int count),
    vips_rot(in, &out, count == 1 ? VIPS_ANGLE_D90 : count == 2 ? VIPS_ANGLE_D180 : VIPS_ANGLE_D270, NULL))

// Maps the centre of the image to the centre of a canvas: x' = a x + b y, y' = c x + d y. Outside the image the canvas
// is transparent black, or repeats its edge. Bicubic; vips_resize and vips_rotate of 8.14 do the same, up to a pixel's
// shift.
static inline VipsImage *shim_map_middle(
    VipsImage *in, double a, double b, double c, double d, int width, int height, int goes_on) {
    VipsImage *out = NULL;
    VipsInterpolate *interpolate = vips_interpolate_new("bicubic");
    if (!interpolate) return NULL;
    double middle_x = (in->Xsize - 1) / 2.0, middle_y = (in->Ysize - 1) / 2.0;
    VipsArrayInt *area = vips_array_int_newv(4, 0, 0, width, height);
    vips_affine(in, &out, a, b, c, d, "interpolate", interpolate, "oarea", area,
        "odx", (width - 1) / 2.0 - (a * middle_x + b * middle_y),
        "ody", (height - 1) / 2.0 - (c * middle_x + d * middle_y),
        "extend", goes_on ? VIPS_EXTEND_COPY : VIPS_EXTEND_BACKGROUND, "premultiplied", goes_on, NULL);
    vips_area_unref(VIPS_AREA(area));
    g_object_unref(interpolate);
    return out;
}

// Places the image on a canvas of one colour; parts outside are cut.
static inline VipsImage *shim_embed(
    VipsImage *in, int x, int y, int width, int height, const double *background, int bands) {
    VipsImage *out = NULL;
    VipsArrayDouble *colour = vips_array_double_new(background, bands);
    vips_embed(in, &out, x, y, width, height, "extend", VIPS_EXTEND_BACKGROUND, "background", colour, NULL);
    vips_area_unref(VIPS_AREA(colour));
    return out;
}

// Places the image on a canvas filled with its own pixels; parts outside are cut.
SHIM_IMAGE(shim_surround, (VipsImage *in, int x, int y, int width, int height, VipsExtend extend),
    vips_embed(in, &out, x, y, width, height, "extend", extend, NULL))

// Repeats an image `across` times in width and `down` times in height.
SHIM_IMAGE(shim_replicate, (VipsImage *in, int across, int down), vips_replicate(in, &out, across, down, NULL))

// Draws one image on another; parts outside are cut.
SHIM_IMAGE(shim_insert, (VipsImage *canvas, VipsImage *in, int x, int y), vips_insert(canvas, in, &out, x, y, NULL))

// Averages blocks of `horizontal` × `vertical` pixels, which must divide the image.
SHIM_IMAGE(shim_average_blocks, (VipsImage *in, int horizontal, int vertical),
    vips_shrink(in, &out, horizontal, vertical, NULL))

// Keeps every `horizontal`-th pixel of every `vertical`-th row.
SHIM_IMAGE(shim_subsample, (VipsImage *in, int horizontal, int vertical),
    vips_subsample(in, &out, horizontal, vertical, "point", TRUE, NULL))

// Repeats each pixel.
SHIM_IMAGE(shim_zoom, (VipsImage *in, int horizontal, int vertical), vips_zoom(in, &out, horizontal, vertical, NULL))

// Puts the second image to the right of the first, or below it.
SHIM_IMAGE(shim_join, (VipsImage *first, VipsImage *second, int below),
    vips_join(first, second, &out, below ? VIPS_DIRECTION_VERTICAL : VIPS_DIRECTION_HORIZONTAL, NULL))

SHIM_IMAGE(shim_flip, (VipsImage *in, int vertically),
    vips_flip(in, &out, vertically ? VIPS_DIRECTION_VERTICAL : VIPS_DIRECTION_HORIZONTAL, NULL))

// Applies the orientation in the metadata and removes it there.
SHIM_IMAGE(shim_autorot, (VipsImage *in), vips_autorot(in, &out, NULL))

// Joins `count` images of equal size, one below the other.
SHIM_IMAGE(shim_join_down, (VipsImage **frames, int count), vips_arrayjoin(frames, &out, count, "across", 1, NULL))

// Computes all pixels into memory, so that they can be read in any order.
static inline VipsImage *shim_copy_memory(VipsImage *in) {
    return vips_image_copy_memory(in);
}

// A second reference with its own metadata.
SHIM_IMAGE(shim_copy, (VipsImage *in), vips_copy(in, &out, NULL))

// --- Colour --------------------------------------------------------------------------------------------------

SHIM_IMAGE(shim_colourspace, (VipsImage *in, VipsInterpretation space), vips_colourspace(in, &out, space, NULL))

// From the embedded profile to sRGB of 8 bits; uses `fallback` if the embedded one does not fit.
SHIM_IMAGE(shim_icc_to_srgb, (VipsImage *in, const char *fallback),
    vips_icc_transform(in, &out, "srgb", "embedded", TRUE, "input_profile", fallback, "intent", VIPS_INTENT_RELATIVE,
        "black_point_compensation", TRUE, "depth", 8, NULL))

SHIM_IMAGE(shim_cast, (VipsImage *in, VipsBandFormat format, int shift),
    vips_cast(in, &out, format, "shift", shift, NULL))

SHIM_IMAGE(shim_reinterpret, (VipsImage *in, VipsInterpretation interpretation),
    vips_copy(in, &out, "interpretation", interpretation, NULL))

// Multiplies one line of 8-bit pixels by alpha, the last band, or divides it: rounded, and in integers, because floats
// are the main cost of libvips' own operations with rounding.
static inline void shim_weigh_line(const VipsPel *from, VipsPel *to, int width, int bands, int back) {
    for (int x = 0; x < width; x++, from += bands, to += bands) {
        unsigned alpha = from[bands - 1];
        to[bands - 1] = alpha;
        for (int band = 0; band < bands - 1; band++) {
            if (back) {
                unsigned level = alpha ? (from[band] * 255u + alpha / 2) / alpha : 0;
                to[band] = level > 255 ? 255 : level;
            } else {
                // A rounded division by 255, for products of two levels.
                unsigned product = from[band] * alpha + 128;
                to[band] = (product + (product >> 8)) >> 8;
            }
        }
    }
}

// For vips_image_generate(); `b` is null for the multiplication.
static inline int shim_weigh_region(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    VipsRegion *in = (VipsRegion *) sequence;
    VipsRect *area = &out->valid;
    (void) a;
    (void) stop;
    if (vips_region_prepare(in, area)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++)
        shim_weigh_line(
            VIPS_REGION_ADDR(in, area->left, y), VIPS_REGION_ADDR(out, area->left, y), area->width,
            out->im->Bands, b != NULL);
    return 0;
}

static inline VipsImage *shim_weigh(VipsImage *in, int back) {
    if (in->BandFmt != VIPS_FORMAT_UCHAR || in->Coding != VIPS_CODING_NONE || in->Bands < 2) {
        vips_error("weigh", "%s", "not 8 bits with alpha");
        return NULL;
    }
    VipsImage *out = vips_image_new();
    // `out` references `in` as long as it reads from it.
    g_object_ref(in);
    vips_object_local(out, in);
    if (vips_image_pipelinev(out, VIPS_DEMAND_STYLE_THINSTRIP, in, NULL)
        || vips_image_generate(
            out, vips_start_one, shim_weigh_region, vips_stop_one, in, back ? (void *) in : NULL)) {
        g_object_unref(out);
        return NULL;
    }
    return out;
}

static inline VipsImage *shim_premultiply(VipsImage *in) { return shim_weigh(in, 0); }

static inline VipsImage *shim_unpremultiply(VipsImage *in) { return shim_weigh(in, 1); }

static inline VipsImage *shim_flatten(VipsImage *in, const double *background, int bands) {
    VipsImage *out = NULL;
    VipsArrayDouble *colour = vips_array_double_new(background, bands);
    vips_flatten(in, &out, "background", colour, NULL);
    vips_area_unref(VIPS_AREA(colour));
    return out;
}

SHIM_IMAGE(shim_add_alpha, (VipsImage *in), vips_addalpha(in, &out, NULL))

SHIM_IMAGE(shim_bands, (VipsImage *in, int first, int count), vips_extract_band(in, &out, first, "n", count, NULL))

SHIM_IMAGE(shim_bandjoin, (VipsImage *first, VipsImage *second), vips_bandjoin2(first, second, &out, NULL))

SHIM_IMAGE(shim_multiply, (VipsImage *first, VipsImage *second), vips_multiply(first, second, &out, NULL))

// Releases those images that were made.
static inline void shim_release(VipsImage **steps, int count) {
    for (int step = 0; step < count; step++)
        if (steps[step]) g_object_unref(steps[step]);
}

// Each sample × factor + offset, to 8 bits.
SHIM_IMAGE(shim_linear, (VipsImage *in, double factor, double offset),
    vips_linear1(in, &out, factor, offset, "uchar", TRUE, NULL))

// Adds `amount` times the difference of `flat` and `soft`, and rounds to 8 bits.
static inline VipsImage *shim_unsharp(VipsImage *in, VipsImage *flat, VipsImage *soft, double amount) {
    VipsImage *steps[4] = {NULL, NULL, NULL, NULL};
    VipsImage *out = NULL;
    if (vips_linear1(flat, &steps[0], amount, 0.5, NULL) == 0 && vips_linear1(soft, &steps[1], -amount, 0, NULL) == 0
        && vips_add(steps[0], steps[1], &steps[2], NULL) == 0 && vips_add(steps[2], in, &steps[3], NULL) == 0)
        vips_cast(steps[3], &out, VIPS_FORMAT_UCHAR, NULL);
    shim_release(steps, 4);
    return out;
}

// Replaces each sample by its value in the table: `count` × `bands` values, the bands of one index adjacent.
static inline VipsImage *shim_look_up_wide(
    VipsImage *in, const void *table, int count, int bands, VipsBandFormat format) {
    size_t length = (size_t)bands * count * vips_format_sizeof(format);
    VipsImage *values = vips_image_new_from_memory_copy(table, length, count, 1, bands, format);
    if (!values) return NULL;
    // The result takes its colour space from the table.
    values->Type = in->Type;
    VipsImage *out = NULL;
    vips_maplut(in, &out, values, NULL);
    g_object_unref(values);
    return out;
}

// The same for tables of 256 entries of 8 bits.
static inline VipsImage *shim_look_up(VipsImage *in, const void *table, int bands) {
    return shim_look_up_wide(in, table, 256, bands, VIPS_FORMAT_UCHAR);
}

// Multiplies colours by alpha, whose maximum is `full`, to floats.
SHIM_IMAGE(shim_premultiply_wide, (VipsImage *in, double full), vips_premultiply(in, &out, "max_alpha", full, NULL))

// Divides colours by alpha, and rounds to 16 bits.
static inline VipsImage *shim_unpremultiply_wide(VipsImage *in, double full) {
    VipsImage *steps[2] = {NULL, NULL};
    VipsImage *out = NULL;
    if (vips_unpremultiply(in, &steps[0], "max_alpha", full, NULL) == 0
        && vips_linear1(steps[0], &steps[1], 1, 0.5, NULL) == 0)
        vips_cast(steps[1], &out, VIPS_FORMAT_USHORT, NULL);
    shim_release(steps, 2);
    return out;
}

// 255 if any band differs from the colour by more than `threshold`, otherwise 0; one band.
static inline VipsImage *shim_differing(VipsImage *in, const double *colour, int bands, double threshold) {
    double ones[4] = {1, 1, 1, 1};
    double negative[4] = {0, 0, 0, 0};
    for (int band = 0; band < bands && band < 4; band++) negative[band] = -colour[band];
    VipsImage *steps[3] = {NULL, NULL, NULL};
    VipsImage *out = NULL;
    if (vips_linear(in, &steps[0], ones, negative, bands, NULL) == 0
        && vips_abs(steps[0], &steps[1], NULL) == 0
        && vips_relational_const1(steps[1], &steps[2], VIPS_OPERATION_RELATIONAL_MORE, threshold, NULL) == 0)
        vips_bandbool(steps[2], &out, VIPS_OPERATION_BOOLEAN_OR, NULL);
    shim_release(steps, 3);
    return out;
}

// Finds the columns and rows of a one-band image that contain a value other than 0; returns 0, and the rectangle's
// sides.
static inline int shim_extent(VipsImage *in, int *left, int *top, int *width, int *height) {
    VipsImage *columns = NULL;
    VipsImage *rows = NULL;
    if (vips_project(in, &columns, &rows, NULL) != 0) return -1;
    *left = *top = *width = *height = 0;
    size_t length = 0;
    unsigned int *sums = (unsigned int *)vips_image_write_to_memory(columns, &length);
    if (sums) {
        int first = 0, last = columns->Xsize - 1;
        while (first <= last && sums[first] == 0) first++;
        while (last >= first && sums[last] == 0) last--;
        *left = first, *width = last - first + 1;
        g_free(sums);
    }
    unsigned int *down = sums ? (unsigned int *)vips_image_write_to_memory(rows, &length) : NULL;
    if (down) {
        int first = 0, last = rows->Ysize - 1;
        while (first <= last && down[first] == 0) first++;
        while (last >= first && down[last] == 0) last--;
        *top = first, *height = last - first + 1;
        g_free(down);
    }
    g_object_unref(columns);
    g_object_unref(rows);
    return sums && down ? 0 : -1;
}

// All pixels as bytes from g_malloc, row by row.
static inline void *shim_pixels(VipsImage *in, size_t *length) { return vips_image_write_to_memory(in, length); }

// Multiplies each pixel's bands by a `size` × `size` matrix, row by row.
static inline VipsImage *shim_recombine(VipsImage *in, const double *matrix, int size) {
    VipsImage *weights = vips_image_new_matrix_from_array(size, size, matrix, size * size);
    if (!weights) return NULL;
    VipsImage *out = NULL;
    vips_recomb(in, &out, weights, NULL);
    g_object_unref(weights);
    return out;
}

// The result has float samples; pixels beyond the edge are those of the edge.
static inline VipsImage *shim_convolve(VipsImage *in, const double *weights, int width, int height, double scale) {
    VipsImage *matrix = vips_image_new_matrix_from_array(width, height, weights, width * height);
    if (!matrix) return NULL;
    vips_image_set_double(matrix, "scale", scale);
    VipsImage *out = NULL;
    vips_conv(in, &out, matrix, "precision", VIPS_PRECISION_FLOAT, NULL);
    g_object_unref(matrix);
    return out;
}

// How often each of 256 levels is there: one row of 32-bit counts for each band.
SHIM_IMAGE(shim_histogram, (VipsImage *in), vips_hist_find(in, &out, NULL))

// Adds the same noise to all bands; the result has float samples.
static inline VipsImage *shim_add_noise(VipsImage *in, double deviation, int seed) {
    VipsImage *noise = NULL;
    VipsImage *out = NULL;
    if (vips_gaussnoise(&noise, in->Xsize, in->Ysize, "sigma", deviation, "mean", 0.0, "seed", seed, NULL) == 0)
        vips_add(in, noise, &out, NULL);
    if (noise) g_object_unref(noise);
    return out;
}

// Multiplies and adds in a colour space, to sRGB of 8 bits; a fourth band is alpha, and stays.
static inline VipsImage *shim_linear_in(
    VipsImage *in, VipsInterpretation space, const double *factors, const double *sums) {
    double all_factors[4] = {factors[0], factors[1], factors[2], 1};
    double all_sums[4] = {sums[0], sums[1], sums[2], 0};
    VipsImage *steps[4] = {NULL, NULL, NULL, NULL};
    VipsImage *out = NULL;
    if (vips_colourspace(in, &steps[0], space, NULL) == 0
        && vips_linear(steps[0], &steps[1], all_factors, all_sums, steps[0]->Bands, NULL) == 0
        && vips_copy(steps[1], &steps[2], "interpretation", space, NULL) == 0
        && vips_colourspace(steps[2], &steps[3], VIPS_INTERPRETATION_sRGB, NULL) == 0)
        vips_cast(steps[3], &out, VIPS_FORMAT_UCHAR, NULL);
    shim_release(steps, 4);
    return out;
}

static inline VipsImage *shim_modulate(VipsImage *in, double lightness, double chroma, double hue) {
    double factors[3] = {lightness, chroma, 1}, sums[3] = {0, 0, hue};
    return shim_linear_in(in, VIPS_INTERPRETATION_LCH, factors, sums);
}

static inline VipsImage *shim_lab_tint(VipsImage *in, double a, double b) {
    double factors[3] = {1, 0, 0}, sums[3] = {0, a, b};
    return shim_linear_in(in, VIPS_INTERPRETATION_LAB, factors, sums);
}

// Moves three bands away from grey or towards it, which is the root of their weighted squares; rounds to 8 bits.
static inline VipsImage *shim_saturate(VipsImage *in, const double *weights, double amount) {
    VipsImage *matrix = vips_image_new_matrix_from_array(3, 3, weights, 9);
    if (!matrix) return NULL;
    VipsImage *steps[6] = {NULL, NULL, NULL, NULL, NULL, NULL};
    VipsImage *out = NULL;
    if (vips_multiply(in, in, &steps[0], NULL) == 0 && vips_recomb(steps[0], &steps[1], matrix, NULL) == 0
        && vips_pow_const1(steps[1], &steps[2], 0.5, NULL) == 0
        && vips_linear1(steps[2], &steps[3], 1 - amount, 0.5, NULL) == 0
        && vips_linear1(in, &steps[4], amount, 0, NULL) == 0 && vips_add(steps[4], steps[3], &steps[5], NULL) == 0)
        vips_cast(steps[5], &out, VIPS_FORMAT_UCHAR, NULL);
    shim_release(steps, 6);
    g_object_unref(matrix);
    return out;
}

SHIM_IMAGE(shim_composite, (VipsImage *base, VipsImage *overlay, VipsBlendMode mode),
    vips_composite2(base, overlay, &out, mode, NULL))

// The result has float samples.
SHIM_IMAGE(shim_gaussian_blur, (VipsImage *in, double sigma, double smallest),
    vips_gaussblur(in, &out, sigma, "min_ampl", smallest, "precision", VIPS_PRECISION_FLOAT, NULL))

// Doubles the size by linear interpolation, that is, a tent filter over doubled pixels. Its weights are powers of two,
// which libvips' fast mode represents exactly.
static inline VipsImage *shim_double(VipsImage *in) {
    static const double tent[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};
    VipsImage *weights = vips_image_new_matrix_from_array(3, 3, tent, 9);
    if (!weights) return NULL;
    vips_image_set_double(weights, "scale", 16);
    VipsImage *large = NULL;
    VipsImage *out = NULL;
    if (vips_zoom(in, &large, 2, 2, NULL) == 0)
        vips_conv(large, &out, weights, "precision", VIPS_PRECISION_INTEGER, NULL);
    if (large) g_object_unref(large);
    g_object_unref(weights);
    return out;
}

// --- Text ----------------------------------------------------------------------------------------------------

// Draws markup as one band, 255 for glyphs; lines break at `width` pixels. One pixel per point.
SHIM_IMAGE(shim_text, (const char *markup, const char *font, int width),
    vips_text(&out, markup, "font", font, "width", width, "wrap", VIPS_TEXT_WRAP_WORD_CHAR, "dpi", 72, NULL))

// --- Metadata ------------------------------------------------------------------------------------------------

static inline int shim_has_alpha(VipsImage *in) { return vips_image_hasalpha(in); }

static inline int shim_has_field(VipsImage *in, const char *name) {
    return vips_image_get_typeof(in, name) != 0;
}

// The value of an integer field, or `otherwise`.
static inline int shim_int_field(VipsImage *in, const char *name, int otherwise) {
    int value = otherwise;
    if (vips_image_get_typeof(in, name) == G_TYPE_INT && vips_image_get_int(in, name, &value) != 0)
        return otherwise;
    return value;
}

static inline void shim_set_int_field(VipsImage *in, const char *name, int value) {
    vips_image_set_int(in, name, value);
}

// Borrows the array of an integer-array field; NULL if there is none.
static inline const int *shim_ints_field(VipsImage *in, const char *name, int *count) {
    int *values = NULL;
    *count = 0;
    if (vips_image_get_typeof(in, name) == 0) return NULL;
    if (vips_image_get_array_int(in, name, &values, count) != 0) return NULL;
    return values;
}

static inline void shim_set_ints_field(VipsImage *in, const char *name, const int *values, int count) {
    vips_image_set_array_int(in, name, values, count);
}

// Borrows the bytes of a blob field; NULL if there is none.
static inline const void *shim_blob_field(VipsImage *in, const char *name, size_t *length) {
    const void *bytes = NULL;
    *length = 0;
    if (vips_image_get_typeof(in, name) != VIPS_TYPE_BLOB) return NULL;
    if (vips_image_get_blob(in, name, &bytes, length) != 0) return NULL;
    return bytes;
}

static inline void shim_set_blob_field(VipsImage *in, const char *name, const void *bytes, size_t length) {
    vips_image_set_blob_copy(in, name, bytes, length);
}

// Borrows the text of a string field; NULL if there is none.
static inline const char *shim_string_field(VipsImage *in, const char *name) {
    const char *text = NULL;
    GType type = vips_image_get_typeof(in, name);
    if (type != VIPS_TYPE_REF_STRING && type != G_TYPE_STRING) return NULL;
    if (vips_image_get_string(in, name, &text) != 0) return NULL;
    return text;
}

static inline void shim_set_string_field(VipsImage *in, const char *name, const char *text) {
    vips_image_set_string(in, name, text);
}

static inline void shim_remove_field(VipsImage *in, const char *name) { vips_image_remove(in, name); }

// All field names, NULL-terminated; freed with shim_free_names.
static inline char **shim_field_names(VipsImage *in) { return vips_image_get_fields(in); }
static inline void shim_free_names(char **names) { g_strfreev(names); }

// --- Writing -------------------------------------------------------------------------------------------------
// Each function sets `*bytes` to memory for g_free, and returns 0, or -1.

static inline int shim_save_jpeg(VipsImage *in, void **bytes, size_t *length, int quality, int progressive, int strip) {
    return vips_jpegsave_buffer(in, bytes, length, "Q", quality, "interlace", progressive,
        "optimize_coding", TRUE, "strip", strip, NULL);
}

// Whether the output can be read as a picture of this size: libheif 1.15 reports success for a picture that it had no
// memory for, and writes a file without a picture.
//
// Leaves the error buffer as it was. Reading replaces its text, which may be a warning about the source, by another one also
// when it succeeds: the source would then be decoded once more to look for what is gone.
static inline int shim_is_readable(const void *bytes, size_t length, int width, int height) {
    char *earlier = vips_error_buffer_copy();
    VipsImage *in = vips_image_new_from_buffer(bytes, length, "", "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    int matches = in && in->Xsize == width && in->Ysize == height;
    if (in) g_object_unref(in);
    vips_error_clear();
    if (earlier && *earlier) vips_error(NULL, "%s", earlier);
    g_free(earlier);
    return matches;
}

// Reads every pixel, and stores none.
static inline int shim_read_all(VipsImage *in) {
    double average;
    return vips_avg(in, &average, NULL);
}

// The largest sample of an image; negative if it can't be read.
static inline double shim_largest_sample(VipsImage *in) {
    double largest;
    return vips_max(in, &largest, NULL) == 0 ? largest : -1;
}

// Without a palette, Paeth for every row costs less than trying all filters per row, and photos become as small.
// EXIF is left out: libvips 8.14.1 would write it twice.
static inline int shim_save_png(
    VipsImage *in, void **bytes, size_t *length, int compression, int interlaced, int palette_bits, int strip) {
    VipsImage *image;
    if (vips_copy(in, &image, NULL)) return -1;
    vips_image_remove(image, VIPS_META_EXIF_NAME);
    int result = palette_bits > 0
        ? vips_pngsave_buffer(image, bytes, length, "compression", 9, "interlace", interlaced,
            "palette", TRUE, "bitdepth", palette_bits, "strip", strip, NULL)
        : vips_pngsave_buffer(image, bytes, length, "compression", compression, "interlace", interlaced,
            "filter", VIPS_FOREIGN_PNG_FILTER_PAETH, "strip", strip, NULL);
    g_object_unref(image);
    return result;
}

static inline int shim_save_webp(
    VipsImage *in, void **bytes, size_t *length, int quality, int lossless, int effort, int strip) {
    return vips_webpsave_buffer(in, bytes, length, "Q", quality, "lossless", lossless, "effort", effort,
        "strip", strip, NULL);
}

static inline int shim_save_avif(
    VipsImage *in, void **bytes, size_t *length, int quality, int lossless, int effort, int strip) {
    // Full colour planes, which lossless output requires; otherwise libvips decides by the quality.
    VipsForeignSubsample planes = lossless ? VIPS_FOREIGN_SUBSAMPLE_OFF : VIPS_FOREIGN_SUBSAMPLE_AUTO;
    return vips_heifsave_buffer(in, bytes, length, "Q", lossless ? 100 : quality, "lossless", lossless,
        "subsample_mode", planes, "effort", effort, "compression", VIPS_FOREIGN_HEIF_COMPRESSION_AV1, "bitdepth", 8,
        "strip", strip, NULL);
}

static inline int shim_save_gif(
    VipsImage *in, void **bytes, size_t *length, int effort, double dither, int palette_bits, int reuse, int strip) {
    return vips_gifsave_buffer(in, bytes, length, "effort", effort, "dither", dither, "bitdepth", palette_bits,
        "reuse", reuse, "strip", strip, NULL);
}

static inline int shim_save_tiff(VipsImage *in, void **bytes, size_t *length, int strip) {
    return vips_tiffsave_buffer(in, bytes, length, "compression", VIPS_FOREIGN_TIFF_COMPRESSION_DEFLATE,
        "predictor", VIPS_FOREIGN_TIFF_PREDICTOR_HORIZONTAL, "strip", strip, NULL);
}

static inline int shim_save_jxl(
    VipsImage *in, void **bytes, size_t *length, int quality, int lossless, int effort, int strip) {
    return vips_jxlsave_buffer(in, bytes, length, "Q", quality, "lossless", lossless, "effort", effort,
        "strip", strip, NULL);
}

// --- Drawings ------------------------------------------------------------------------------------------------

// A picture of more colours than this is none of few; slots of the table are four times as many. So many steps from a
// colour's own slot mean that the colours were chosen to meet there.
#define SHIM_MOST_COLOURS 2048
#define SHIM_COLOUR_SLOTS 8192
#define SHIM_MOST_STEPS 32

// Whether a picture of 8 bits that is in memory has few colours and mostly pixels like the one to their left: at least half of
// them, and seven of ten where there is no colour, since grey photos have few levels, too. Ends with the first colour too many.
static inline int shim_is_flat(VipsImage *in) {
    const unsigned char *pixels = (const unsigned char *)vips_image_get_data(in);
    int bands = vips_image_get_bands(in);
    if (pixels == NULL || vips_image_get_format(in) != VIPS_FORMAT_UCHAR || bands < 1 || bands > 4)
        return 0;
    size_t width = (size_t)vips_image_get_width(in), height = (size_t)vips_image_get_height(in);
    uint32_t slots[SHIM_COLOUR_SLOTS];
    unsigned char used[SHIM_COLOUR_SLOTS] = {0};
    size_t colours = 0, same = 0;
    for (size_t y = 0; y < height; y++) {
        uint32_t left = 0;
        for (size_t x = 0; x < width; x++, pixels += bands) {
            uint32_t colour = 0;
            for (int band = 0; band < bands; band++)
                colour = colour << 8 | pixels[band];
            if (x > 0 && colour == left) {
                same++;
                continue;
            }
            left = colour;
            uint32_t place = (colour * 2654435761u) >> 19;
            for (int step = 0; used[place] && slots[place] != colour; step++) {
                if (step == SHIM_MOST_STEPS)
                    return 0;
                place = (place + 1) % SHIM_COLOUR_SLOTS;
            }
            if (used[place])
                continue;
            if (++colours > SHIM_MOST_COLOURS)
                return 0;
            used[place] = 1;
            slots[place] = colour;
        }
    }
    return bands < 3 ? same * 10 >= width * height * 7 : same * 2 >= width * height;
}

#undef SHIM_READ
#undef SHIM_IMAGE
#endif
