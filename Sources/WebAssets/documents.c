// SPDX-License-Identifier: Apache-2.0
// The documents: a page of docs needs its bytes here, a line in the table below, and a row in docs/README.md.
#include "WebAssets.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char readme_md[] = {
#embed "../../README.md"
};
static const unsigned char architecture_md[] = {
#embed "../../ARCHITECTURE.md"
};
static const unsigned char changelog_md[] = {
#embed "../../CHANGELOG.md"
};
static const unsigned char contributing_md[] = {
#embed "../../CONTRIBUTING.md"
};
static const unsigned char threat_model_md[] = {
#embed "../../THREAT_MODEL.md"
};
static const unsigned char bench_readme_md[] = {
#embed "../../bench/README.md"
};
static const unsigned char demo_photos_readme_md[] = {
#embed "../../demo/photos/README.md"
};
static const unsigned char docs_readme_md[] = {
#embed "../../docs/README.md"
};
static const unsigned char docs_clients_readme_md[] = {
#embed "../../docs/clients/README.md"
};
static const unsigned char docs_operations_install_md[] = {
#embed "../../docs/operations/install.md"
};
static const unsigned char docs_adding_a_dialect_md[] = {
#embed "../../docs/adding-a-dialect.md"
};
static const unsigned char docs_adding_a_format_md[] = {
#embed "../../docs/adding-a-format.md"
};
static const unsigned char docs_caching_md[] = {
#embed "../../docs/caching.md"
};
static const unsigned char docs_commands_md[] = {
#embed "../../docs/commands.md"
};
static const unsigned char docs_comparison_md[] = {
#embed "../../docs/comparison.md"
};
static const unsigned char docs_configuration_md[] = {
#embed "../../docs/configuration.md"
};
static const unsigned char docs_conformance_caching_md[] = {
#embed "../../docs/conformance/caching.md"
};
static const unsigned char docs_conformance_http_md[] = {
#embed "../../docs/conformance/http.md"
};
static const unsigned char docs_durability_md[] = {
#embed "../../docs/durability.md"
};
static const unsigned char docs_engine_md[] = {
#embed "../../docs/engine.md"
};
static const unsigned char docs_errors_md[] = {
#embed "../../docs/errors.md"
};
static const unsigned char docs_fronts_md[] = {
#embed "../../docs/fronts.md"
};
static const unsigned char docs_http_server_md[] = {
#embed "../../docs/http-server.md"
};
static const unsigned char docs_metrics_md[] = {
#embed "../../docs/metrics.md"
};
static const unsigned char docs_moving_readme_md[] = {
#embed "../../docs/moving/README.md"
};
static const unsigned char docs_moving_cloudflare_md[] = {
#embed "../../docs/moving/cloudflare.md"
};
static const unsigned char docs_moving_imaginary_md[] = {
#embed "../../docs/moving/imaginary.md"
};
static const unsigned char docs_moving_imgix_md[] = {
#embed "../../docs/moving/imgix.md"
};
static const unsigned char docs_moving_imgproxy_md[] = {
#embed "../../docs/moving/imgproxy.md"
};
static const unsigned char docs_moving_nextjs_md[] = {
#embed "../../docs/moving/nextjs.md"
};
static const unsigned char docs_moving_thumbor_md[] = {
#embed "../../docs/moving/thumbor.md"
};
static const unsigned char docs_moving_weserv_md[] = {
#embed "../../docs/moving/weserv.md"
};
static const unsigned char docs_object_stores_md[] = {
#embed "../../docs/object-stores.md"
};
static const unsigned char docs_operating_md[] = {
#embed "../../docs/operating.md"
};
static const unsigned char docs_origins_md[] = {
#embed "../../docs/origins.md"
};
static const unsigned char docs_paths_md[] = {
#embed "../../docs/paths.md"
};
static const unsigned char docs_performance_md[] = {
#embed "../../docs/performance.md"
};
static const unsigned char docs_playground_md[] = {
#embed "../../docs/playground.md"
};
static const unsigned char docs_images_playground_webp[] = {
#embed "../../docs/images/playground.webp"
};
static const unsigned char docs_prefetch_md[] = {
#embed "../../docs/prefetch.md"
};
static const unsigned char docs_quick_start_md[] = {
#embed "../../docs/quick-start.md"
};
static const unsigned char docs_recipes_readme_md[] = {
#embed "../../docs/recipes/README.md"
};
static const unsigned char docs_recipes_cdn_md[] = {
#embed "../../docs/recipes/cdn.md"
};
static const unsigned char docs_recipes_fediverse_md[] = {
#embed "../../docs/recipes/fediverse.md"
};
static const unsigned char docs_recipes_nextcloud_md[] = {
#embed "../../docs/recipes/nextcloud.md"
};
static const unsigned char docs_recipes_nextjs_md[] = {
#embed "../../docs/recipes/nextjs.md"
};
static const unsigned char docs_recipes_photo_archive_md[] = {
#embed "../../docs/recipes/photo-archive.md"
};
static const unsigned char docs_reload_md[] = {
#embed "../../docs/reload.md"
};
static const unsigned char docs_runbooks_readme_md[] = {
#embed "../../docs/runbooks/README.md"
};
static const unsigned char docs_runbooks_connections_md[] = {
#embed "../../docs/runbooks/connections.md"
};
static const unsigned char docs_runbooks_descriptors_md[] = {
#embed "../../docs/runbooks/descriptors.md"
};
static const unsigned char docs_runbooks_disk_damage_md[] = {
#embed "../../docs/runbooks/disk-damage.md"
};
static const unsigned char docs_runbooks_disk_writes_md[] = {
#embed "../../docs/runbooks/disk-writes.md"
};
static const unsigned char docs_runbooks_down_md[] = {
#embed "../../docs/runbooks/down.md"
};
static const unsigned char docs_runbooks_error_budget_fast_md[] = {
#embed "../../docs/runbooks/error-budget-fast.md"
};
static const unsigned char docs_runbooks_error_budget_slow_md[] = {
#embed "../../docs/runbooks/error-budget-slow.md"
};
static const unsigned char docs_runbooks_fetch_queue_md[] = {
#embed "../../docs/runbooks/fetch-queue.md"
};
static const unsigned char docs_runbooks_log_losses_md[] = {
#embed "../../docs/runbooks/log-losses.md"
};
static const unsigned char docs_runbooks_no_keys_md[] = {
#embed "../../docs/runbooks/no-keys.md"
};
static const unsigned char docs_runbooks_no_workers_md[] = {
#embed "../../docs/runbooks/no-workers.md"
};
static const unsigned char docs_runbooks_origin_failures_md[] = {
#embed "../../docs/runbooks/origin-failures.md"
};
static const unsigned char docs_runbooks_reload_refused_md[] = {
#embed "../../docs/runbooks/reload-refused.md"
};
static const unsigned char docs_runbooks_restarts_md[] = {
#embed "../../docs/runbooks/restarts.md"
};
static const unsigned char docs_runbooks_transform_queue_md[] = {
#embed "../../docs/runbooks/transform-queue.md"
};
static const unsigned char docs_runbooks_workers_crash_md[] = {
#embed "../../docs/runbooks/workers-crash.md"
};
static const unsigned char docs_scaling_md[] = {
#embed "../../docs/scaling.md"
};
static const unsigned char docs_security_md[] = {
#embed "../../docs/security.md"
};
static const unsigned char docs_security_attacks_md[] = {
#embed "../../docs/security/attacks.md"
};
static const unsigned char docs_signing_md[] = {
#embed "../../docs/signing.md"
};
static const unsigned char docs_streaming_md[] = {
#embed "../../docs/streaming.md"
};
static const unsigned char docs_tracing_md[] = {
#embed "../../docs/tracing.md"
};
static const unsigned char docs_transforms_md[] = {
#embed "../../docs/transforms.md"
};
static const unsigned char docs_uploads_md[] = {
#embed "../../docs/uploads.md"
};
static const unsigned char docs_url_md[] = {
#embed "../../docs/url.md"
};
static const unsigned char docs_images_caching_svg[] = {
#embed "../../docs/images/caching.svg"
};
static const unsigned char deploy_imageproxyd_service[] = {
#embed "../../deploy/imageproxyd.service"
};
static const unsigned char deploy_imageproxyd_socket[] = {
#embed "../../deploy/imageproxyd.socket"
};
static const unsigned char deploy_fronts_caddyfile[] = {
#embed "../../deploy/fronts/Caddyfile"
};
static const unsigned char deploy_fronts_haproxy_cfg[] = {
#embed "../../deploy/fronts/haproxy.cfg"
};
static const unsigned char deploy_fronts_imageproxyd_json[] = {
#embed "../../deploy/fronts/imageproxyd.json"
};
static const unsigned char deploy_fronts_nginx_conf[] = {
#embed "../../deploy/fronts/nginx.conf"
};
static const unsigned char deploy_fronts_varnish_vcl[] = {
#embed "../../deploy/fronts/varnish.vcl"
};
static const unsigned char deploy_grafana_imageproxyd_json[] = {
#embed "../../deploy/grafana/imageproxyd.json"
};
static const unsigned char deploy_prometheus_alerts_yml[] = {
#embed "../../deploy/prometheus/alerts.yml"
};
static const unsigned char deploy_prometheus_alerts_test_yml[] = {
#embed "../../deploy/prometheus/alerts.test.yml"
};
static const unsigned char deploy_prometheus_prometheus_yml[] = {
#embed "../../deploy/prometheus/prometheus.yml"
};
static const unsigned char config_example_json[] = {
#embed "../../config.example.json"
};
static const unsigned char docs_signing_sign_go[] = {
#embed "../../docs/signing/sign.go"
};
static const unsigned char docs_signing_sign_js[] = {
#embed "../../docs/signing/sign.js"
};
static const unsigned char docs_signing_sign_php[] = {
#embed "../../docs/signing/sign.php"
};
static const unsigned char docs_signing_sign_pl[] = {
#embed "../../docs/signing/sign.pl"
};
static const unsigned char docs_signing_sign_py[] = {
#embed "../../docs/signing/sign.py"
};
static const unsigned char docs_signing_sign_rb[] = {
#embed "../../docs/signing/sign.rb"
};
static const unsigned char docs_signing_sign_sh[] = {
#embed "../../docs/signing/sign.sh"
};

#define DOCUMENT(path, bytes) { path, bytes, sizeof bytes }

static const struct web_asset documents[] = {
    DOCUMENT("README.md", readme_md),
    DOCUMENT("ARCHITECTURE.md", architecture_md),
    DOCUMENT("CHANGELOG.md", changelog_md),
    DOCUMENT("CONTRIBUTING.md", contributing_md),
    DOCUMENT("THREAT_MODEL.md", threat_model_md),
    DOCUMENT("bench/README.md", bench_readme_md),
    DOCUMENT("demo/photos/README.md", demo_photos_readme_md),
    DOCUMENT("docs/README.md", docs_readme_md),
    DOCUMENT("docs/clients/README.md", docs_clients_readme_md),
    DOCUMENT("docs/operations/install.md", docs_operations_install_md),
    DOCUMENT("docs/adding-a-dialect.md", docs_adding_a_dialect_md),
    DOCUMENT("docs/adding-a-format.md", docs_adding_a_format_md),
    DOCUMENT("docs/caching.md", docs_caching_md),
    DOCUMENT("docs/commands.md", docs_commands_md),
    DOCUMENT("docs/comparison.md", docs_comparison_md),
    DOCUMENT("docs/configuration.md", docs_configuration_md),
    DOCUMENT("docs/conformance/caching.md", docs_conformance_caching_md),
    DOCUMENT("docs/conformance/http.md", docs_conformance_http_md),
    DOCUMENT("docs/durability.md", docs_durability_md),
    DOCUMENT("docs/engine.md", docs_engine_md),
    DOCUMENT("docs/errors.md", docs_errors_md),
    DOCUMENT("docs/fronts.md", docs_fronts_md),
    DOCUMENT("docs/http-server.md", docs_http_server_md),
    DOCUMENT("docs/metrics.md", docs_metrics_md),
    DOCUMENT("docs/moving/README.md", docs_moving_readme_md),
    DOCUMENT("docs/moving/cloudflare.md", docs_moving_cloudflare_md),
    DOCUMENT("docs/moving/imaginary.md", docs_moving_imaginary_md),
    DOCUMENT("docs/moving/imgix.md", docs_moving_imgix_md),
    DOCUMENT("docs/moving/imgproxy.md", docs_moving_imgproxy_md),
    DOCUMENT("docs/moving/nextjs.md", docs_moving_nextjs_md),
    DOCUMENT("docs/moving/thumbor.md", docs_moving_thumbor_md),
    DOCUMENT("docs/moving/weserv.md", docs_moving_weserv_md),
    DOCUMENT("docs/object-stores.md", docs_object_stores_md),
    DOCUMENT("docs/operating.md", docs_operating_md),
    DOCUMENT("docs/origins.md", docs_origins_md),
    DOCUMENT("docs/paths.md", docs_paths_md),
    DOCUMENT("docs/performance.md", docs_performance_md),
    DOCUMENT("docs/playground.md", docs_playground_md),
    DOCUMENT("docs/prefetch.md", docs_prefetch_md),
    DOCUMENT("docs/quick-start.md", docs_quick_start_md),
    DOCUMENT("docs/recipes/README.md", docs_recipes_readme_md),
    DOCUMENT("docs/recipes/cdn.md", docs_recipes_cdn_md),
    DOCUMENT("docs/recipes/fediverse.md", docs_recipes_fediverse_md),
    DOCUMENT("docs/recipes/nextcloud.md", docs_recipes_nextcloud_md),
    DOCUMENT("docs/recipes/nextjs.md", docs_recipes_nextjs_md),
    DOCUMENT("docs/recipes/photo-archive.md", docs_recipes_photo_archive_md),
    DOCUMENT("docs/reload.md", docs_reload_md),
    DOCUMENT("docs/runbooks/README.md", docs_runbooks_readme_md),
    DOCUMENT("docs/runbooks/connections.md", docs_runbooks_connections_md),
    DOCUMENT("docs/runbooks/descriptors.md", docs_runbooks_descriptors_md),
    DOCUMENT("docs/runbooks/disk-damage.md", docs_runbooks_disk_damage_md),
    DOCUMENT("docs/runbooks/disk-writes.md", docs_runbooks_disk_writes_md),
    DOCUMENT("docs/runbooks/down.md", docs_runbooks_down_md),
    DOCUMENT("docs/runbooks/error-budget-fast.md", docs_runbooks_error_budget_fast_md),
    DOCUMENT("docs/runbooks/error-budget-slow.md", docs_runbooks_error_budget_slow_md),
    DOCUMENT("docs/runbooks/fetch-queue.md", docs_runbooks_fetch_queue_md),
    DOCUMENT("docs/runbooks/log-losses.md", docs_runbooks_log_losses_md),
    DOCUMENT("docs/runbooks/no-keys.md", docs_runbooks_no_keys_md),
    DOCUMENT("docs/runbooks/no-workers.md", docs_runbooks_no_workers_md),
    DOCUMENT("docs/runbooks/origin-failures.md", docs_runbooks_origin_failures_md),
    DOCUMENT("docs/runbooks/reload-refused.md", docs_runbooks_reload_refused_md),
    DOCUMENT("docs/runbooks/restarts.md", docs_runbooks_restarts_md),
    DOCUMENT("docs/runbooks/transform-queue.md", docs_runbooks_transform_queue_md),
    DOCUMENT("docs/runbooks/workers-crash.md", docs_runbooks_workers_crash_md),
    DOCUMENT("docs/scaling.md", docs_scaling_md),
    DOCUMENT("docs/security.md", docs_security_md),
    DOCUMENT("docs/security/attacks.md", docs_security_attacks_md),
    DOCUMENT("docs/signing.md", docs_signing_md),
    DOCUMENT("docs/streaming.md", docs_streaming_md),
    DOCUMENT("docs/tracing.md", docs_tracing_md),
    DOCUMENT("docs/transforms.md", docs_transforms_md),
    DOCUMENT("docs/uploads.md", docs_uploads_md),
    DOCUMENT("docs/url.md", docs_url_md),
    DOCUMENT("docs/images/caching.svg", docs_images_caching_svg),
    DOCUMENT("docs/images/playground.webp", docs_images_playground_webp),
    DOCUMENT("deploy/imageproxyd.service", deploy_imageproxyd_service),
    DOCUMENT("deploy/imageproxyd.socket", deploy_imageproxyd_socket),
    DOCUMENT("deploy/fronts/Caddyfile", deploy_fronts_caddyfile),
    DOCUMENT("deploy/fronts/haproxy.cfg", deploy_fronts_haproxy_cfg),
    DOCUMENT("deploy/fronts/imageproxyd.json", deploy_fronts_imageproxyd_json),
    DOCUMENT("deploy/fronts/nginx.conf", deploy_fronts_nginx_conf),
    DOCUMENT("deploy/fronts/varnish.vcl", deploy_fronts_varnish_vcl),
    DOCUMENT("deploy/grafana/imageproxyd.json", deploy_grafana_imageproxyd_json),
    DOCUMENT("deploy/prometheus/alerts.yml", deploy_prometheus_alerts_yml),
    DOCUMENT("deploy/prometheus/alerts.test.yml", deploy_prometheus_alerts_test_yml),
    DOCUMENT("deploy/prometheus/prometheus.yml", deploy_prometheus_prometheus_yml),
    DOCUMENT("config.example.json", config_example_json),
    DOCUMENT("docs/signing/sign.go", docs_signing_sign_go),
    DOCUMENT("docs/signing/sign.js", docs_signing_sign_js),
    DOCUMENT("docs/signing/sign.php", docs_signing_sign_php),
    DOCUMENT("docs/signing/sign.pl", docs_signing_sign_pl),
    DOCUMENT("docs/signing/sign.py", docs_signing_sign_py),
    DOCUMENT("docs/signing/sign.rb", docs_signing_sign_rb),
    DOCUMENT("docs/signing/sign.sh", docs_signing_sign_sh),
};

size_t document_count(void) {
    return sizeof documents / sizeof *documents;
}

struct web_asset document_at(size_t index) {
    return documents[index];
}
