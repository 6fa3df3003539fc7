// SPDX-License-Identifier: Apache-2.0
// Reduces 8-bit images horizontally with Lanczos 3, in vectors. vips_reduceh of libvips 8.14 does it sample by sample,
// which takes a fifth of a photo's transform. The results are those of vips_reduceh, sample for sample: the same weights of
// 12 bits at 64 positions between two pixels, and the same rounding (a test compares them).
//
// To examine again with another version of libvips.
#ifndef IMAGEPROXYD_CVIPS_REDUCE_H
#define IMAGEPROXYD_CVIPS_REDUCE_H

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <vips/vips.h>

#define SHIM_REDUCE_KERNEL "kernel", VIPS_KERNEL_LANCZOS3
// libvips averages blocks of pixels first, if what is then left to reduce is at least this factor.
#define SHIM_REDUCE_GAP 2.0

// vips_resize, for all images.
static inline VipsImage *shim_resize_any(VipsImage *in, double horizontal, double vertical) {
    VipsImage *out = NULL;
    vips_resize(in, &out, horizontal, "vscale", vertical, NULL);
    return out;
}

#if defined(__x86_64__)
#include <immintrin.h>

// Positions between two pixels that have weights of their own.
#define SHIM_PHASES 64
// The sum of the weights of one position.
#define SHIM_WEIGHT_BITS 12
// Beyond so many weights, libvips does it: blocks are averaged first, so that no factor of ours has as many.
#define SHIM_MOST_WEIGHTS 64
// A load takes eight bytes, which may begin at the last pixel.
#define SHIM_EXCESS 8

typedef struct {
    // Pixels of the source for one of the result, at least 1.
    double factor;
    // How far the source begins to the right of the result, so that both have the same middle; and how far the middle of
    // an even number of weights is behind that of an odd one.
    double offset, lag;
    // Weights of one position, two in each element of the table.
    int count, pairs;
    // Pixels on the left beyond those of the weights: the first position may be before the first pixel.
    int margin;
    int32_t *weights;
} ShimReduction;

// Two neighbouring weights, as PMADDWD takes them.
static inline int32_t shim_weight_pair(double first, double second) {
    uint32_t low = (uint16_t)(int16_t)(first * (1 << SHIM_WEIGHT_BITS));
    uint32_t high = (uint16_t)(int16_t)(second * (1 << SHIM_WEIGHT_BITS));
    return (int32_t)(low | high << 16);
}

// Lanczos 3 at `phase` (0 to 1) behind the pixel in the middle.
static inline void shim_make_weights(const ShimReduction *reduction, double phase, int32_t *pairs) {
    double weights[SHIM_MOST_WEIGHTS + 1] = {0}, sum = 0;
    double middle = phase + reduction->count / 2.0 - 1;
    for (int i = 0; i < reduction->count; i++) {
        double x = (i - middle) / reduction->factor;
        if (fabs(x) <= 3)
            weights[i] = x == 0 ? 1 : 3.0 * sin(VIPS_PI * x) * sin(VIPS_PI * x / 3.0) / (VIPS_PI * VIPS_PI * x * x);
        sum += weights[i];
    }
    for (int i = 0; i < reduction->pairs; i++)
        pairs[i] = shim_weight_pair(weights[2 * i] / sum, weights[2 * i + 1] / sum);
}

// Where column `left` of the result is in the source.
static inline double shim_first_place(const ShimReduction *reduction, int left) {
    return (left + 0.5) * reduction->factor - 0.5 - reduction->offset;
}

// One line of the result from column `left` on. `in` is where column 0 of the widened source is, or would be.
__attribute__((target("sse4.1"))) static inline void shim_reduce_line(
    const ShimReduction *reduction, const VipsPel *in, VipsPel *out, int left, int width, int bands) {
    // Puts the samples of two pixels side by side, band by band, each widened to 16 bits.
    static const int8_t orders[4][16] = {
        {0, -1, 1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {0, -1, 2, -1, 1, -1, 3, -1, -1, -1, -1, -1, -1, -1, -1, -1},
        {0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1},
        {0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1}};
    const __m128i order = _mm_loadu_si128((const __m128i *)orders[bands - 1]);
    const __m128i half = _mm_set1_epi32(1 << (SHIM_WEIGHT_BITS - 1));
    // Added up and then lagging, as libvips does it: at a border between two positions the last bit decides.
    double place = shim_first_place(reduction, left);
    for (int i = 0; i < width; i++, place += reduction->factor, out += bands) {
        double x = place - reduction->lag;
        int fine = (int)floor(x * SHIM_PHASES * 2) & (SHIM_PHASES * 2 - 1);
        const int32_t *weights = reduction->weights + (size_t)((fine + 1) >> 1) * reduction->pairs;
        const VipsPel *from = in + ((ptrdiff_t)floor(x) + reduction->margin) * bands;
        __m128i sum = half;
        for (int pair = 0; pair < reduction->pairs; pair++, from += 2 * bands) {
            __m128i samples = _mm_shuffle_epi8(_mm_loadl_epi64((const __m128i *)from), order);
            sum = _mm_add_epi32(sum, _mm_madd_epi16(samples, _mm_set1_epi32(weights[pair])));
        }
        sum = _mm_srai_epi32(sum, SHIM_WEIGHT_BITS);
        sum = _mm_packus_epi16(_mm_packs_epi32(sum, sum), sum);
        uint32_t levels = (uint32_t)_mm_cvtsi128_si32(sum);
        memcpy(out, &levels, (size_t)bands);
    }
}

// For vips_image_generate().
static inline int shim_reduce_region(VipsRegion *out, void *sequence, void *a, void *b, gboolean *stop) {
    VipsRegion *in = (VipsRegion *)sequence;
    const ShimReduction *reduction = (const ShimReduction *)b;
    VipsRect *area = &out->valid;
    (void)a, (void)stop;
    VipsRect needed = {
        .left = (int)floor(shim_first_place(reduction, area->left) - reduction->lag) + reduction->margin,
        .top = area->top,
        .width = (int)ceil(area->width * reduction->factor) + 2 * reduction->pairs + SHIM_EXCESS,
        .height = area->height};
    VipsRect all = {.left = 0, .top = 0, .width = in->im->Xsize, .height = in->im->Ysize};
    vips_rect_intersectrect(&needed, &all, &needed);
    if (vips_region_prepare(in, &needed)) return -1;
    for (int y = area->top; y < VIPS_RECT_BOTTOM(area); y++)
        shim_reduce_line(
            reduction, VIPS_REGION_ADDR(in, needed.left, y) - (size_t)needed.left * in->im->Bands,
            VIPS_REGION_ADDR(out, area->left, y), area->left, area->width, in->im->Bands);
    return 0;
}

// `source` reduced to `width` columns; `surplus` is how many columns of it `width` times the factor has more.
static inline VipsImage *shim_reduce_by(VipsImage *source, int width, double factor, double surplus) {
    VipsImage *out = vips_image_new(), *wide = NULL;
    ShimReduction *reduction = VIPS_NEW(out, ShimReduction);
    reduction->factor = factor;
    reduction->count = (int)rint(6 * factor) + 1;
    reduction->pairs = (reduction->count + 1) / 2;
    reduction->offset = (1 + surplus) / 2.0 - 1;
    reduction->lag = reduction->count % 2 ? 0 : 0.5;
    reduction->weights = VIPS_ARRAY(out, (size_t)(SHIM_PHASES + 1) * reduction->pairs, int32_t);
    int before = (reduction->count + 1) / 2 - 1;
    reduction->margin = 1;
    if (!reduction->weights
        || vips_embed(source, &wide, before + reduction->margin, 0,
            source->Xsize + 2 * reduction->pairs + reduction->margin + SHIM_EXCESS, source->Ysize,
            "extend", VIPS_EXTEND_COPY, NULL)) {
        g_object_unref(out);
        return NULL;
    }
    vips_object_local(out, wide);
    for (int phase = 0; phase <= SHIM_PHASES; phase++)
        shim_make_weights(
            reduction, (double)phase / SHIM_PHASES, reduction->weights + (size_t)phase * reduction->pairs);
    if (vips_image_pipelinev(out, VIPS_DEMAND_STYLE_THINSTRIP, wide, NULL)) {
        g_object_unref(out);
        return NULL;
    }
    out->Xsize = width;
    if (vips_image_generate(out, vips_start_one, shim_reduce_region, vips_stop_one, wide, reduction)) {
        g_object_unref(out);
        return NULL;
    }
    return out;
}

// Whether shim_reduce_across can do it.
static inline int shim_reduces_fast(VipsImage *in, double factor) {
    return __builtin_cpu_supports("sse4.1") && in->BandFmt == VIPS_FORMAT_UCHAR
        && in->Coding == VIPS_CODING_NONE && in->Bands >= 1 && in->Bands <= 4 && factor > 1
        && in->Xsize / factor >= 1;
}

// vips_reduceh by `factor` with libvips' averaging of blocks before it.
static inline VipsImage *shim_reduce_across(VipsImage *in, double factor) {
    int width = (int)(in->Xsize / factor + 0.5);
    double surplus = width * factor - in->Xsize;
    int block = VIPS_MAX(1, (int)floor((double)in->Xsize / width / SHIM_REDUCE_GAP));
    VipsImage *source = in, *out;
    if (block == 1) {
        g_object_ref(source);
    } else if (vips_shrinkh(in, &source, block, "ceil", TRUE, NULL)) {
        return NULL;
    }
    factor /= block;
    surplus /= block;
    if (factor > 1 && rint(6 * factor) + 1 <= SHIM_MOST_WEIGHTS) {
        out = shim_reduce_by(source, width, factor, surplus);
    } else {
        out = NULL;
        vips_reduceh(in, &out, factor * block, SHIM_REDUCE_KERNEL, "gap", SHIM_REDUCE_GAP, NULL);
    }
    g_object_unref(source);
    return out;
}

// vips_resize, for images that get no larger in either direction.
static inline VipsImage *shim_resize(VipsImage *in, double horizontal, double vertical) {
    if (horizontal >= 1 || vertical > 1 || !shim_reduces_fast(in, 1 / horizontal))
        return shim_resize_any(in, horizontal, vertical);
    VipsImage *low = NULL;
    if (vips_reducev(in, &low, 1 / vertical, SHIM_REDUCE_KERNEL, "gap", SHIM_REDUCE_GAP, NULL)) return NULL;
    VipsImage *out = shim_reduce_across(low, 1 / horizontal);
    g_object_unref(low);
    return out;
}
#else
static inline VipsImage *shim_resize(VipsImage *in, double horizontal, double vertical) {
    return shim_resize_any(in, horizontal, vertical);
}
#endif

#endif
