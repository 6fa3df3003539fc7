// SPDX-License-Identifier: Apache-2.0
// The files of the pages, which the compiler puts into the program (C23 6.10.4, #embed).
#ifndef WEB_ASSETS_H
#define WEB_ASSETS_H

#include <stddef.h>

/// One file. Everything is constant, and valid as long as the process.
struct web_asset {
    /// The path below `files`, such as `playground/app.js`.
    const char *_Nonnull path;
    /// The bytes of the file, `length` of them.
    const unsigned char *_Nonnull bytes;
    size_t length;
};

/// The number of files.
size_t web_asset_count(void);

/// A file by its number, from 0 up to `web_asset_count()` exclusive.
struct web_asset web_asset_at(size_t index);

/// The number of documents: the Markdown of the repository, and the files that it links to.
size_t document_count(void);

/// A document by its number; its path is the one in the repository, such as `docs/caching.md`.
struct web_asset document_at(size_t index);

#endif
