# h2load, the classic HTTP/2 load generator, as Debian packages it.
#   docker build --file docker/h2load.Dockerfile docker
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends nghttp2-client \
    && rm -rf /var/lib/apt/lists/*
ENTRYPOINT ["h2load"]
