// SPDX-License-Identifier: Apache-2.0
//
// A table of contents without entries, in ICU's format of common data. The release links it in place of the tables of all
// languages (`icudt76_dat`) that Foundation contains for dates and numbers: 34 MB that nothing here reads. If another
// version of Foundation names its tables differently, the program has both, and works all the same.
#include <stdint.h>

const struct {
    // The header of an ICU file.
    uint16_t header_size;
    uint8_t magic[2];
    // Its contents.
    uint16_t size, reserved;
    uint8_t is_big_endian, character_set, character_size, reserved_too;
    uint8_t format[4], format_version[4], data_version[4];
    char padding[8];
    // The table.
    uint32_t count, reserved_at_last;
} no_icu_data = {
    32, {0xDA, 0x27}, 20, 0,
    __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, 0, sizeof(uint16_t), 0,
    {'T', 'o', 'C', 'P'}, {1, 0, 0, 0}, {0, 0, 0, 0}, {0}, 0, 0,
};
