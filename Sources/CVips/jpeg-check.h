// SPDX-License-Identifier: Apache-2.0
// Reads all warnings of libjpeg: libvips 8.14 reports only the first one of a file.
#ifndef IMAGEPROXYD_CVIPS_JPEG_CHECK_H
#define IMAGEPROXYD_CVIPS_JPEG_CHECK_H

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

// One reading of a file, up to its end or to the first warning that makes pixels wrong.
typedef struct {
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf stop;
    const JOCTET *bytes;
    size_t rest;
    char damage[JMSG_LENGTH_MAX];
} ShimJPEGReading;

// The number of bytes that an encoder may leave after the codes of a scan: more bytes are codes.
#define SHIM_JPEG_PADDING 8

// Fewer bytes than libjpeg-turbo requires for decoding without checks for missing codes (jdhuff.c: 512).
#define SHIM_JPEG_PORTION 500

static inline int shim_jpeg_is_damage(j_common_ptr info) {
    switch (info->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
        return 1;
    case JWRN_EXTRANEOUS_DATA: {
        // After the last scan no data is missing, and before the first one there is none.
        int marker = info->err->msg_parm.i[1];
        int scans = ((j_decompress_ptr)info)->input_scan_number;
        return scans > 0 && marker != JPEG_EOI && info->err->msg_parm.i[0] > SHIM_JPEG_PADDING;
    }
    default:
        return 0;
    }
}

static inline void shim_jpeg_stop(j_common_ptr info) {
    ShimJPEGReading *reading = (ShimJPEGReading *)info->client_data;
    info->err->format_message(info, reading->damage);
    longjmp(reading->stop, 1);
}

static inline void shim_jpeg_warned(j_common_ptr info, int level) {
    if (level < 0 && shim_jpeg_is_damage(info)) shim_jpeg_stop(info);
}

static inline void shim_jpeg_silent(j_common_ptr info) { (void)info; }

static inline void shim_jpeg_nothing(j_decompress_ptr info) { (void)info; }

static inline boolean shim_jpeg_fill(j_decompress_ptr info) {
    ShimJPEGReading *reading = (ShimJPEGReading *)info->client_data;
    size_t count = reading->rest < SHIM_JPEG_PORTION ? reading->rest : SHIM_JPEG_PORTION;
    if (count == 0) ERREXIT(info, JERR_INPUT_EOF);
    info->src->next_input_byte = reading->bytes;
    info->src->bytes_in_buffer = count;
    reading->bytes += count, reading->rest -= count;
    return TRUE;
}

static inline void shim_jpeg_skip(j_decompress_ptr info, long count) {
    while (count > (long)info->src->bytes_in_buffer) {
        count -= (long)info->src->bytes_in_buffer;
        shim_jpeg_fill(info);
    }
    if (count < 0) count = 0;
    info->src->next_input_byte += count;
    info->src->bytes_in_buffer -= (size_t)count;
}

// Decodes a file at an eighth of its size and stores no pixel. Writes libjpeg's warning about the first codes that it
// had to invent into `damage`, of `size` bytes, and returns 1; returns 0 if there are none.
static inline int shim_jpeg_damage(const void *bytes, size_t length, char *damage, size_t size) {
    struct jpeg_decompress_struct info;
    ShimJPEGReading reading;
    memset(&info, 0, sizeof info);
    memset(&reading, 0, sizeof reading);
    reading.bytes = (const JOCTET *)bytes;
    reading.rest = length;
    info.err = jpeg_std_error(&reading.errors);
    info.client_data = &reading;
    reading.errors.error_exit = shim_jpeg_stop;
    reading.errors.emit_message = shim_jpeg_warned;
    reading.errors.output_message = shim_jpeg_silent;
    if (setjmp(reading.stop) == 0) {
        jpeg_create_decompress(&info);
        reading.source.init_source = shim_jpeg_nothing;
        reading.source.fill_input_buffer = shim_jpeg_fill;
        reading.source.skip_input_data = shim_jpeg_skip;
        reading.source.resync_to_restart = jpeg_resync_to_restart;
        reading.source.term_source = shim_jpeg_nothing;
        info.src = &reading.source;
        jpeg_read_header(&info, TRUE);
        info.scale_num = 1, info.scale_denom = 8;
        info.out_color_space = info.jpeg_color_space;
        info.do_fancy_upsampling = FALSE;
        jpeg_start_decompress(&info);
        JSAMPARRAY row = info.mem->alloc_sarray(
            (j_common_ptr)&info, JPOOL_IMAGE, info.output_width * (JDIMENSION)info.output_components, 1);
        while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, row, 1);
    }
    jpeg_destroy_decompress(&info);
    if (!reading.damage[0]) return 0;
    snprintf(damage, size, "%s", reading.damage);
    return 1;
}

#endif
