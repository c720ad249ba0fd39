# ghz, the classic gRPC load generator. Build it with the version the runner
# asks for; `latest` resolves to a release of 2021 on some module proxies.
FROM golang:1.26-bookworm AS build
ARG GHZ_VERSION=0.121.0
RUN CGO_ENABLED=0 GOBIN=/out go install -trimpath github.com/bojand/ghz/cmd/ghz@v${GHZ_VERSION}

FROM debian:bookworm-slim
COPY --from=build /out/ghz /usr/local/bin/ghz
ENTRYPOINT ["ghz"]
