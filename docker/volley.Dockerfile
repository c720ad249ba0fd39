# volley, the native gRPC load generator, built from this repository's sources: the context is the
# folder volley/.
#   docker build --file docker/volley.Dockerfile volley
# It has no feature, as the runner builds it. With all of them, after ./scripts/volley-page.sh:
#   docker build --file docker/volley.Dockerfile --build-arg FLAGS= volley
FROM rust:1.95-bookworm AS build
ARG PROFILE=release
ARG FLAGS=--no-default-features
WORKDIR /src
COPY Cargo.toml Cargo.lock build.rs ./
COPY edit/dist edit/dist
COPY docs docs
COPY crates crates
COPY src src
RUN cargo build --profile "$PROFILE" --locked $FLAGS && cp "target/$PROFILE/volley" volley-built

FROM debian:bookworm-slim
COPY --from=build /src/volley-built /usr/local/bin/volley
ENTRYPOINT ["volley"]
