// SPDX-License-Identifier: Apache-2.0
// Reads the Huffman codes of a baseline JPEG whose decoder shrinks by eight. Of a component that becomes one sample per
// block, only the block's mean counts: the codes behind it are passed over, as many at once as one look into a table shows,
// where libjpeg-turbo reads one after the other. Coefficients, warnings and errors are those of libjpeg (a test compares
// them); the rest of the decoding stays libjpeg's.
//
// To examine again with another version of libjpeg-turbo: the members of jpegint.h that are used here.
#ifndef IMAGEPROXYD_CVIPS_JPEG_CODES_H
#define IMAGEPROXYD_CVIPS_JPEG_CODES_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>
#include <jpegint.h>

// As many bits are looked up at once; longer codes are searched for.
#define SHIM_CODE_BITS 12
#define SHIM_CODE_SLOTS (1 << SHIM_CODE_BITS)
#define SHIM_LONGEST_CODE 16
#define SHIM_BLOCK 64

// The codes of one table, by the next bits.
typedef struct {
    // Length << 8 | symbol; 0 for a code that is longer, and for none.
    uint16_t codes[SHIM_CODE_SLOTS];
    // By length: the largest code, -1 without one; and where the symbol of a code is, less the code.
    int32_t largest[SHIM_LONGEST_CODE + 1], place[SHIM_LONGEST_CODE + 1];
    uint8_t symbols[256];
} ShimCodes;

// The codes of coefficients behind a block's mean.
typedef struct {
    ShimCodes codes;
    // One coefficient, or the end (0, and a run below 15): value << 16 | run of zeros << 8 | bits of code and value. 0: see
    // `codes`.
    int32_t values[SHIM_CODE_SLOTS];
    // Whole coefficients: bits << 8 | 1 << 7 for the block's end behind them | how many positions they fill. 0: see `codes`.
    uint16_t skips[SHIM_CODE_SLOTS];
} ShimCoefficientCodes;

// What is between two calls of shim_jpeg_decode.
typedef struct {
    // The next bits from the highest one on, zeros behind them, and how many there are; fewer than none: that many were
    // missing.
    uint64_t bits;
    int count;
    // MCUs until the next restart marker.
    unsigned restarts;
    int means[MAX_COMPS_IN_SCAN];
    ShimCodes first[NUM_HUFF_TBLS];
    ShimCoefficientCodes rest[NUM_HUFF_TBLS];
} ShimCodeReader;

// The state within one MCU.
typedef struct {
    uint64_t bits;
    int count;
    // Bytes that can be read without a look for markers; none behind a marker.
    const JOCTET *next;
    size_t left;
} ShimBits;

#define SHIM_ALWAYS static inline __attribute__((always_inline))
#define SHIM_SELDOM static __attribute__((noinline, cold, unused))

// Positions of coefficients in a block. A run may lead 15 beyond the last one, as in libjpeg.
static const uint8_t shim_zigzag[SHIM_BLOCK + 16] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,
    6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31,
    39, 46, 53, 60, 61, 54, 47, 55, 62, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63};

// A value of `size` bits, 1 to 15 (T.81 §F.2.2.1, EXTEND).
SHIM_ALWAYS int shim_extended(uint32_t value, int size) {
    return value < 1u << (size - 1) ? (int)value - (1 << size) + 1 : (int)value;
}

// libjpeg has checked the table (jpeg_make_d_derived_tbl), also that no code is longer than its length allows.
static inline void shim_fill_codes(ShimCodes *codes, const JHUFF_TBL *table) {
    memset(codes->codes, 0, sizeof codes->codes);
    memcpy(codes->symbols, table->huffval, sizeof codes->symbols);
    int code = 0, place = 0;
    for (int length = 1; length <= SHIM_LONGEST_CODE; length++, code <<= 1) {
        codes->place[length] = place - code;
        codes->largest[length] = table->bits[length] ? code + table->bits[length] - 1 : -1;
        for (int i = 0; i < table->bits[length]; i++, code++, place++) {
            if (length > SHIM_CODE_BITS) continue;
            int width = 1 << (SHIM_CODE_BITS - length);
            for (int slot = code * width; slot < (code + 1) * width; slot++)
                codes->codes[slot] = (uint16_t)(length << 8 | table->huffval[place]);
        }
    }
}

static inline int32_t shim_value_in(const ShimCodes *codes, uint32_t slot) {
    int length = codes->codes[slot] >> 8, run = codes->codes[slot] >> 4 & 15, size = codes->codes[slot] & 15;
    int bits = length + size;
    if (!length || bits > SHIM_CODE_BITS) return 0;
    int value = size ? shim_extended(slot >> (SHIM_CODE_BITS - bits) & ((1u << size) - 1), size) : 0;
    return (int32_t)((uint32_t)value << 16 | (uint32_t)run << 8 | (uint32_t)bits);
}

static inline uint16_t shim_skip_in(const ShimCodes *codes, uint32_t slot) {
    int bits = 0, filled = 0, ends = 0;
    while (!ends && filled < SHIM_BLOCK) {
        uint16_t code = codes->codes[(slot << bits) & (SHIM_CODE_SLOTS - 1)];
        int length = code >> 8, run = code >> 4 & 15, size = code & 15;
        if (!length || bits + length + size > SHIM_CODE_BITS) break;
        bits += length + size;
        ends = size == 0 && run != 15;
        if (!ends) filled += run + 1;
    }
    return (uint16_t)(bits << 8 | ends << 7 | filled);
}

static inline void shim_fill_coefficient_codes(ShimCoefficientCodes *table, const JHUFF_TBL *source) {
    shim_fill_codes(&table->codes, source);
    for (uint32_t slot = 0; slot < SHIM_CODE_SLOTS; slot++) {
        table->values[slot] = shim_value_in(&table->codes, slot);
        table->skips[slot] = shim_skip_in(&table->codes, slot);
    }
}

// Reads bytes up to the next marker. Without one, the file's end is an error as soon as fewer than eight bits are left, as in
// libjpeg.
SHIM_SELDOM ShimBits shim_bits_bytewise(j_decompress_ptr info, ShimBits bits) {
    struct jpeg_source_mgr *source = info->src;
    if (info->unread_marker) return bits;
    while (bits.count <= 56) {
        size_t length = 0;
        while (length < bits.left && bits.next[length] == 0xFF) length++;
        if (length == bits.left) {
            if (bits.count < 8) ERREXIT(info, JERR_INPUT_EOF);
            break;
        }
        JOCTET byte = *bits.next;
        if (byte == 0xFF) {
            int marker = bits.next[length++];
            bits.next += length, bits.left -= length;
            if (marker != 0) {
                source->next_input_byte = bits.next, source->bytes_in_buffer = bits.left;
                info->unread_marker = marker;
                bits.left = 0;
                return bits;
            }
        } else {
            bits.next++, bits.left--;
        }
        bits.bits |= (uint64_t)byte << (56 - bits.count);
        bits.count += 8;
    }
    return bits;
}

// Provides at least 32 bits, which a code and its value take at most, unless there are no more.
SHIM_ALWAYS void shim_fill_bits(j_decompress_ptr info, ShimBits *bits) {
    if (__builtin_expect(bits->count >= 32, 1)) return;
    if (__builtin_expect(bits->left >= 8, 1)) {
        uint64_t bytes, ones;
        memcpy(&bytes, bits->next, sizeof bytes);
        // The highest bit of each byte that is 0xFF.
        ones = (~bytes - 0x0101010101010101u) & bytes & 0x8080808080808080u;
        if (__builtin_expect(ones == 0, 1)) {
            int whole = (63 - bits->count) >> 3;
            bits->bits |= __builtin_bswap64(bytes) >> bits->count;
            bits->count += whole * 8;
            bits->next += whole, bits->left -= (size_t)whole;
            return;
        }
    }
    *bits = shim_bits_bytewise(info, *bits);
}

SHIM_ALWAYS void shim_drop_bits(ShimBits *bits, int count) { bits->bits <<= count, bits->count -= count; }

SHIM_ALWAYS int shim_take_value(ShimBits *bits, int size) {
    uint32_t value = (uint32_t)(bits->bits >> (64 - size));
    shim_drop_bits(bits, size);
    return shim_extended(value, size);
}

// Length << 8 | symbol; for a code that does not exist 0, as libjpeg does it.
SHIM_SELDOM int shim_long_code(j_decompress_ptr info, uint64_t bits, const ShimCodes *codes) {
    for (int length = 1; length <= SHIM_LONGEST_CODE; length++) {
        int32_t code = (int32_t)(bits >> (64 - length));
        if (code <= codes->largest[length]) return length << 8 | codes->symbols[(code + codes->place[length]) & 255];
    }
    WARNMS(info, JWRN_HUFF_BAD_CODE);
    return (SHIM_LONGEST_CODE + 1) << 8;
}

SHIM_ALWAYS int shim_take_symbol(j_decompress_ptr info, ShimBits *bits, const ShimCodes *codes) {
    int code = codes->codes[bits->bits >> (64 - SHIM_CODE_BITS)];
    if (__builtin_expect(code == 0, 0)) code = shim_long_code(info, bits->bits, codes);
    shim_drop_bits(bits, code >> 8);
    return code & 255;
}

SHIM_ALWAYS void shim_skip_coefficients(j_decompress_ptr info, ShimBits *bits, const ShimCoefficientCodes *table) {
    int place = 1;
    while (place < SHIM_BLOCK) {
        shim_fill_bits(info, bits);
        int skip = table->skips[bits->bits >> (64 - SHIM_CODE_BITS)];
        int filled = skip & 127, ends = skip >> 7 & 1;
        // No code behind the block's last coefficient is its own.
        if (__builtin_expect(skip != 0 && place + filled + ends <= SHIM_BLOCK, 1)) {
            shim_drop_bits(bits, skip >> 8);
            if (ends) return;
            place += filled;
            continue;
        }
        int symbol = shim_take_symbol(info, bits, &table->codes), size = symbol & 15, run = symbol >> 4;
        if (size == 0 && run != 15) return;
        shim_drop_bits(bits, size);
        place += run + 1;
    }
}

SHIM_ALWAYS void shim_take_coefficients(
    j_decompress_ptr info, ShimBits *bits, const ShimCoefficientCodes *table, JCOEF *block) {
    for (int place = 1; place < SHIM_BLOCK; place++) {
        shim_fill_bits(info, bits);
        int32_t known = table->values[bits->bits >> (64 - SHIM_CODE_BITS)];
        int run, value;
        if (__builtin_expect(known != 0, 1)) {
            shim_drop_bits(bits, known & 255);
            run = known >> 8 & 15, value = known >> 16;
        } else {
            int symbol = shim_take_symbol(info, bits, &table->codes), size = symbol & 15;
            run = symbol >> 4, value = size ? shim_take_value(bits, size) : 0;
        }
        if (value == 0 && run != 15) return;
        place += run;
        if (value != 0) block[shim_zigzag[place]] = (JCOEF)value;
    }
}

SHIM_SELDOM void shim_restart(j_decompress_ptr info, ShimCodeReader *reader) {
    if (reader->count > 0) info->marker->discarded_bytes += (unsigned)reader->count / 8;
    reader->bits = 0, reader->count = 0;
    info->marker->read_restart_marker(info);
    memset(reader->means, 0, sizeof reader->means);
    reader->restarts = info->restart_interval;
    if (info->unread_marker == 0) info->entropy->insufficient_data = FALSE;
}

// Codes that are missing mean that the rest of the scan, or of what is before the next restart marker, is grey.
SHIM_SELDOM void shim_codes_are_missing(j_decompress_ptr info, ShimCodeReader *reader) {
    if (info->unread_marker == 0) ERREXIT(info, JERR_INPUT_EOF);
    reader->bits = 0, reader->count = 0;
    WARNMS(info, JWRN_HIT_MARKER);
    info->entropy->insufficient_data = TRUE;
}

// The blocks of one MCU, which are zeroed.
static inline void shim_decode_blocks(j_decompress_ptr info, ShimCodeReader *reader, JBLOCKROW *blocks) {
    struct jpeg_source_mgr *source = info->src;
    ShimBits bits = {
        .bits = reader->bits, .count = reader->count, .next = source->next_input_byte,
        .left = info->unread_marker ? 0 : source->bytes_in_buffer};
    for (int i = 0; i < info->blocks_in_MCU; i++) {
        int index = info->MCU_membership[i];
        const jpeg_component_info *component = info->cur_comp_info[index];
        JCOEF *block = *blocks[i];
        shim_fill_bits(info, &bits);
        int size = shim_take_symbol(info, &bits, &reader->first[component->dc_tbl_no]) & 15;
        int step = size ? shim_take_value(&bits, size) : 0;
        if (__builtin_add_overflow(reader->means[index], step, &reader->means[index]))
            ERREXIT(info, JERR_BAD_DCT_COEF);
        block[0] = (JCOEF)reader->means[index];
        const ShimCoefficientCodes *rest = &reader->rest[component->ac_tbl_no];
        if (component->DCT_scaled_size > 1) shim_take_coefficients(info, &bits, rest, block);
        else shim_skip_coefficients(info, &bits, rest);
    }
    reader->bits = bits.bits, reader->count = bits.count;
    if (info->unread_marker == 0) source->next_input_byte = bits.next, source->bytes_in_buffer = bits.left;
    if (__builtin_expect(reader->count < 0, 0)) shim_codes_are_missing(info, reader);
}

// Instead of libjpeg's decode_mcu.
static inline boolean shim_decode_mcu(j_decompress_ptr info, ShimCodeReader *reader, JBLOCKROW *blocks) {
    if (info->restart_interval && reader->restarts == 0) shim_restart(info, reader);
    if (!info->entropy->insufficient_data) shim_decode_blocks(info, reader, blocks);
    if (info->restart_interval) reader->restarts--;
    return TRUE;
}

// Prepares to read the codes of the file's only scan, which libjpeg has started.
static inline void shim_prepare_codes(j_decompress_ptr info, ShimCodeReader *reader) {
    reader->bits = 0, reader->count = 0;
    reader->restarts = info->restart_interval;
    memset(reader->means, 0, sizeof reader->means);
    for (int i = 0; i < info->comps_in_scan; i++) {
        int first = info->cur_comp_info[i]->dc_tbl_no, rest = info->cur_comp_info[i]->ac_tbl_no;
        shim_fill_codes(&reader->first[first], info->dc_huff_tbl_ptrs[first]);
        shim_fill_coefficient_codes(&reader->rest[rest], info->ac_huff_tbl_ptrs[rest]);
    }
}

#endif
