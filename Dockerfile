# SPDX-License-Identifier: Apache-2.0
# The image of `make image`, for those who have a container engine: docker build -t imageproxyd .
FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make
WORKDIR /source
COPY . .
RUN make package

FROM debian:bookworm-slim
RUN --mount=type=bind,from=build,source=/source/.build/package,target=/package \
    apt-get update && apt-get install -y --no-install-recommends /package/imageproxyd_*.deb && \
    rm -rf /var/lib/apt/lists/* /etc/default/imageproxyd && \
    install -d -m 700 -o 65532 -g 65532 /var/cache/imageproxyd
# All of the container. The daemon starts only with keys, sources or security.openProxy then.
ENV IMAGEPROXYD_LISTEN=0.0.0.0:8080 IMAGEPROXYD_CACHE_DISK_DIRECTORY=/var/cache/imageproxyd
USER 65532:65532
EXPOSE 8080
VOLUME /var/cache/imageproxyd
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/imageproxyd"]
CMD ["serve", "--config", "/etc/imageproxyd/config.json"]
