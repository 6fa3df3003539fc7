// SPDX-License-Identifier: Apache-2.0
// Decodes a baseline JPEG at an eighth of its size: libjpeg does it, but for the codes (jpeg-codes.h). The pixels are those
// of libvips' own reader.
#ifndef IMAGEPROXYD_CVIPS_JPEG_EIGHTH_H
#define IMAGEPROXYD_CVIPS_JPEG_EIGHTH_H

#include <setjmp.h>
#include <vips/vips.h>

#include "jpeg-codes.h"

#define SHIM_MOST_WARNINGS 100

typedef struct {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr input;
    jmp_buf stop;
    // The next line, or -1 after an error.
    int line;
    VipsSource *source;
    ShimCodeReader codes;
} ShimEighth;

static inline void shim_eighth_message(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    // As libvips' reader.
    vips_error("VipsJpeg", "%s", text);
}

static inline void shim_eighth_silent(j_common_ptr info) { (void)info; }

static inline void shim_eighth_stop(j_common_ptr info) {
    info->err->output_message(info);
    longjmp(((ShimEighth *)info->client_data)->stop, 1);
}

// Keeps the first warning, and gives up after many, as libvips' reader does.
static inline void shim_eighth_warned(j_common_ptr info, int level) {
    if (level >= 0) return;
    if (++info->err->num_warnings == 1) info->err->output_message(info);
    if (info->err->num_warnings >= SHIM_MOST_WARNINGS) info->err->error_exit(info);
}

static inline void shim_eighth_nothing(j_decompress_ptr info) { (void)info; }

// All bytes are there from the start.
static inline boolean shim_eighth_ends(j_decompress_ptr info) {
    ERREXIT(info, JERR_INPUT_EOF);
    return FALSE;
}

static inline void shim_eighth_skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    if ((size_t)count > info->src->bytes_in_buffer) ERREXIT(info, JERR_INPUT_EOF);
    info->src->next_input_byte += count, info->src->bytes_in_buffer -= (size_t)count;
}

static inline boolean shim_eighth_decode(j_decompress_ptr info, JBLOCKROW *blocks) {
    return shim_decode_mcu(info, &((ShimEighth *)info->client_data)->codes, blocks);
}

// Whether the file is one that shim_decode_mcu can read, in the layout of jpegint.h and the order of bytes that it was
// written for.
static inline int shim_eighth_suits(j_decompress_ptr info) {
#if LIBJPEG_TURBO_VERSION_NUMBER == 2001005 && JPEG_LIB_VERSION < 70 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return !info->progressive_mode && !info->arith_code && !info->inputctl->has_multiple_scans
        && info->data_precision == 8 && (info->num_components == 1 || info->num_components == 3);
#else
    (void)info;
    return 0;
#endif
}

// Reads the header and starts the scan; 0 if libvips has to read the file.
static inline int shim_eighth_start(ShimEighth *reader, const void *bytes, size_t length) {
    j_decompress_ptr info = &reader->info;
    info->err = jpeg_std_error(&reader->errors);
    info->client_data = reader;
    reader->errors.error_exit = shim_eighth_stop;
    reader->errors.emit_message = shim_eighth_warned;
    // What is wrong with the header, libvips has reported.
    reader->errors.output_message = shim_eighth_silent;
    if (setjmp(reader->stop)) return 0;
    jpeg_create_decompress(info);
    reader->input.init_source = shim_eighth_nothing;
    reader->input.fill_input_buffer = shim_eighth_ends;
    reader->input.skip_input_data = shim_eighth_skip;
    reader->input.resync_to_restart = jpeg_resync_to_restart;
    reader->input.term_source = shim_eighth_nothing;
    reader->input.next_input_byte = (const JOCTET *)bytes;
    reader->input.bytes_in_buffer = length;
    info->src = &reader->input;
    jpeg_read_header(info, TRUE);
    info->scale_num = 1, info->scale_denom = 8;
    if (!shim_eighth_suits(info)) return 0;
    jpeg_start_decompress(info);
    shim_prepare_codes(info, &reader->codes);
    info->entropy->decode_mcu = shim_eighth_decode;
    reader->errors.output_message = shim_eighth_message;
    reader->errors.num_warnings = 0;
    return 1;
}

// For vips_image_generate(), behind vips_sequential(), which requests whole lines one after the other.
static inline int shim_eighth_lines(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    ShimEighth *reader = (ShimEighth *)a;
    VipsRect *area = &out->valid;
    (void)sequence, (void)b, (void)stop;
    if (area->left != 0 || area->width != out->im->Xsize || area->top != reader->line) {
        vips_error("VipsJpeg", "lines out of order");
        return -1;
    }
    reader->line = -1;
    if (setjmp(reader->stop)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++) {
        JSAMPROW row = VIPS_REGION_ADDR(out, 0, y);
        jpeg_read_scanlines(&reader->info, &row, 1);
    }
    reader->line = VIPS_RECT_BOTTOM(area);
    return 0;
}

static inline void shim_eighth_close(VipsImage *image, ShimEighth *reader) {
    (void)image;
    jpeg_destroy_decompress(&reader->info);
    g_object_unref(reader->source);
}

// The picture whose header libvips has read into `head`, at an eighth, or NULL if libvips has to read it. `source` has its
// bytes in memory.
static inline VipsImage *shim_jpeg_eighth(VipsSource *source, VipsImage *head) {
    size_t length = 0;
    const void *bytes = vips_source_map(source, &length);
    if (!bytes) return NULL;
    VipsImage *lines = vips_image_new(), *ordered = NULL, *out = NULL;
    ShimEighth *reader = VIPS_NEW(lines, ShimEighth);
    if (!reader) {
        g_object_unref(lines);
        return NULL;
    }
    memset(reader, 0, sizeof *reader);
    reader->source = source;
    g_object_ref(source);
    g_signal_connect(lines, "close", G_CALLBACK(shim_eighth_close), reader);
    // libjpeg rounds the size up, libvips down.
    if (shim_eighth_start(reader, bytes, length) && reader->info.output_components == head->Bands
        && (int)reader->info.output_width >= head->Xsize && (int)reader->info.output_height >= head->Ysize
        && vips_image_pipelinev(lines, VIPS_DEMAND_STYLE_THINSTRIP, head, NULL) == 0) {
        lines->Xsize = (int)reader->info.output_width, lines->Ysize = (int)reader->info.output_height;
        if (vips_image_generate(lines, NULL, shim_eighth_lines, NULL, reader, NULL) == 0
            && vips_sequential(lines, &ordered, "tile_height", 8, NULL) == 0)
            vips_extract_area(ordered, &out, 0, 0, head->Xsize, head->Ysize, NULL);
    }
    if (ordered) g_object_unref(ordered);
    g_object_unref(lines);
    return out;
}

#endif
