# The image of Sluice: only the program, which does not run as root.
#
#   docker build -t sluice .
#   docker run -p 127.0.0.1:9324:9324 -e SLUICE_INSECURE=true -v sluice:/var/lib/sluice sluice
#
# SLUICE_INSECURE allows clients without TLS, because the container listens on an address that
# others can reach. Otherwise set SLUICE_TLS_CERT and SLUICE_TLS_KEY. The root's keys are in
# the volume: docker cp CONTAINER:/var/lib/sluice/credentials .
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags=-s -o /sluice ./cmd/sluice
RUN mkdir -m 700 /data /cluster /trails /trails/audit /backups

FROM gcr.io/distroless/static:nonroot
COPY --from=build /sluice /usr/bin/sluice
# Volumes that are mounted here belong to the program's user.
COPY --from=build --chown=nonroot:nonroot /data /var/lib/sluice
COPY --from=build --chown=nonroot:nonroot /cluster /cluster
COPY --from=build --chown=nonroot:nonroot /trails /trails
COPY --from=build --chown=nonroot:nonroot /backups /backups
ENV SLUICE_DATA=/var/lib/sluice SLUICE_LISTEN=0.0.0.0:9324
EXPOSE 9324
VOLUME /var/lib/sluice
# With TLS, also set AWS_ENDPOINT_URL_SLUICE and AWS_CA_BUNDLE: the health check must call a
# name in the certificate.
HEALTHCHECK --interval=10s --timeout=6s --start-period=60s CMD ["/usr/bin/sluice", "health"]
ENTRYPOINT ["/usr/bin/sluice"]
CMD ["serve"]
