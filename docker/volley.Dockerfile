# volley, the native gRPC load generator, built from this repository's sources: the context is the
# folder volley/.
#   ./scripts/volley-page.sh    # for `volley edit`; without it, all else works
#   docker build --file docker/volley.Dockerfile volley
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock build.rs ./
COPY edit/dist edit/dist
COPY src src
RUN cargo build --release --locked

FROM debian:bookworm-slim
COPY --from=build /src/target/release/volley /usr/local/bin/volley
ENTRYPOINT ["volley"]
