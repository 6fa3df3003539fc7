// SPDX-License-Identifier: Apache-2.0
// SQLite, with functions for its constants that Swift can't read.
#ifndef IMAGEPROXYD_CSQLITE_SHIM_H
#define IMAGEPROXYD_CSQLITE_SHIM_H

#include <sqlite3.h>

static const int SHIM_IOERR_SHORT_READ = SQLITE_IOERR_SHORT_READ;

// SQLite copies the bytes before it returns.
static inline int shim_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int shim_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    // A null pointer would bind NULL instead of no bytes.
    return sqlite3_bind_blob(statement, index, count > 0 ? bytes : "", count, SQLITE_TRANSIENT);
}

#endif
