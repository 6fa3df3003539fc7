// SPDX-License-Identifier: Apache-2.0
// A file needs its bytes here, and a line in the table below.
#include "WebAssets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char docs_docs_css[] = {
#embed "files/docs/docs.css"
};
static const unsigned char docs_docs_js[] = {
#embed "files/docs/docs.js"
};

static const unsigned char docs_icon_svg[] = {
#embed "files/playground/icon.svg"
};

static const unsigned char stats_index_html[] = {
#embed "files/stats/index.html"
};
static const unsigned char stats_stats_css[] = {
#embed "files/stats/stats.css"
};
static const unsigned char stats_stats_js[] = {
#embed "files/stats/stats.js"
};
static const unsigned char stats_events_js[] = {
#embed "files/stats/events.js"
};
static const unsigned char stats_history_js[] = {
#embed "files/stats/history.js"
};
static const unsigned char stats_plots_js[] = {
#embed "files/stats/plots.js"
};
static const unsigned char stats_units_js[] = {
#embed "files/stats/units.js"
};

static const unsigned char playground_api_js[] = {
#embed "files/playground/api.js"
};
static const unsigned char playground_app_js[] = {
#embed "files/playground/app.js"
};
static const unsigned char playground_compare_js[] = {
#embed "files/playground/compare.js"
};
static const unsigned char playground_copy_js[] = {
#embed "files/playground/copy.js"
};
static const unsigned char playground_dom_js[] = {
#embed "files/playground/dom.js"
};
static const unsigned char playground_fields_js[] = {
#embed "files/playground/fields.js"
};
static const unsigned char playground_grid_js[] = {
#embed "files/playground/grid.js"
};
static const unsigned char playground_icon_svg[] = {
#embed "files/playground/icon.svg"
};
static const unsigned char playground_index_html[] = {
#embed "files/playground/index.html"
};
static const unsigned char playground_output_js[] = {
#embed "files/playground/output.js"
};
static const unsigned char playground_picker_js[] = {
#embed "files/playground/picker.js"
};
static const unsigned char playground_pipeline_js[] = {
#embed "files/playground/pipeline.js"
};
static const unsigned char playground_playground_css[] = {
#embed "files/playground/playground.css"
};
static const unsigned char playground_preview_js[] = {
#embed "files/playground/preview.js"
};
static const unsigned char playground_region_js[] = {
#embed "files/playground/region.js"
};
static const unsigned char playground_request_js[] = {
#embed "files/playground/request.js"
};
static const unsigned char playground_source_js[] = {
#embed "files/playground/source.js"
};
static const unsigned char playground_ssim_worker_js[] = {
#embed "files/playground/ssim-worker.js"
};
static const unsigned char playground_ssim_js[] = {
#embed "files/playground/ssim.js"
};
static const unsigned char playground_state_js[] = {
#embed "files/playground/state.js"
};
static const unsigned char playground_tabs_js[] = {
#embed "files/playground/tabs.js"
};
static const unsigned char playground_target_js[] = {
#embed "files/playground/target.js"
};
static const unsigned char playground_theme_css[] = {
#embed "files/playground/theme.css"
};
static const unsigned char playground_theme_js[] = {
#embed "files/playground/theme.js"
};
static const unsigned char playground_transform_js[] = {
#embed "files/playground/transform.js"
};

#define ASSET(path, bytes) { path, bytes, sizeof bytes }

static const struct web_asset assets[] = {
    ASSET("docs/docs.css", docs_docs_css),
    ASSET("docs/docs.js", docs_docs_js),
    ASSET("docs/icon.svg", docs_icon_svg),
    ASSET("playground/api.js", playground_api_js),
    ASSET("playground/app.js", playground_app_js),
    ASSET("playground/compare.js", playground_compare_js),
    ASSET("playground/copy.js", playground_copy_js),
    ASSET("playground/dom.js", playground_dom_js),
    ASSET("playground/fields.js", playground_fields_js),
    ASSET("playground/grid.js", playground_grid_js),
    ASSET("playground/icon.svg", playground_icon_svg),
    ASSET("playground/index.html", playground_index_html),
    ASSET("playground/output.js", playground_output_js),
    ASSET("playground/picker.js", playground_picker_js),
    ASSET("playground/pipeline.js", playground_pipeline_js),
    ASSET("playground/playground.css", playground_playground_css),
    ASSET("playground/preview.js", playground_preview_js),
    ASSET("playground/region.js", playground_region_js),
    ASSET("playground/request.js", playground_request_js),
    ASSET("playground/source.js", playground_source_js),
    ASSET("playground/ssim-worker.js", playground_ssim_worker_js),
    ASSET("playground/ssim.js", playground_ssim_js),
    ASSET("playground/state.js", playground_state_js),
    ASSET("playground/tabs.js", playground_tabs_js),
    ASSET("playground/target.js", playground_target_js),
    ASSET("playground/theme.css", playground_theme_css),
    ASSET("playground/theme.js", playground_theme_js),
    ASSET("playground/transform.js", playground_transform_js),
    ASSET("stats/index.html", stats_index_html),
    ASSET("stats/stats.css", stats_stats_css),
    ASSET("stats/stats.js", stats_stats_js),
    ASSET("stats/events.js", stats_events_js),
    ASSET("stats/history.js", stats_history_js),
    ASSET("stats/plots.js", stats_plots_js),
    ASSET("stats/units.js", stats_units_js),
};

size_t web_asset_count(void) {
    return sizeof assets / sizeof *assets;
}

struct web_asset web_asset_at(size_t index) {
    return assets[index];
}
