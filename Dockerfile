# syntax=docker/dockerfile:1
# One image for all processes; the command selects one. The steps are in deploy/image/build.sh, which also runs without an
# engine.

# A release names its digest, and RELEASE: docs/release.md.
ARG BASE_IMAGE=node:24-bookworm-slim

FROM ${BASE_IMAGE} AS sources
WORKDIR /sources
COPY . .
ARG BASE_IMAGE
ARG RELEASE=""
RUN deploy/image/require-release.sh "$RELEASE" "$BASE_IMAGE"
RUN deploy/image/build.sh manifests /manifests

FROM ${BASE_IMAGE} AS build
WORKDIR /build
# Only the manifests, so that a change of code does not reinstall dependencies.
COPY --from=sources /manifests ./
COPY deploy/image/build.sh deploy/image/
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh dependencies
COPY . .
RUN deploy/image/build.sh compile
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh production /brand-records

# Certificates for processes that call each other over a network: see deploy/compose/make-certificates.sh.
FROM ${BASE_IMAGE} AS certificates
RUN apt-get update && apt-get install --yes --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*
COPY deploy/compose/make-certificates.sh /usr/local/bin/
# An empty volume inherits the owner of the folder that it covers.
RUN for process in gateway accounts records plans webhook console operator; do \
  install -d -o node -g node "/certificates/$process"; done && install -d -o node -g node /authority
USER node
ENTRYPOINT ["make-certificates.sh", "/certificates", "/authority"]

FROM ${BASE_IMAGE}
ARG BASE_IMAGE
ARG RELEASE=""
ARG REVISION=""
LABEL org.opencontainers.image.title="Brand Records" \
  org.opencontainers.image.version="$RELEASE" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.base.name="$BASE_IMAGE" \
  org.opencontainers.image.description="One brand's records, opened to that brand's own integrations." \
  org.opencontainers.image.licenses="MIT"
# The running image installs nothing.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
WORKDIR /brand-records
# Owned by root, so that processes cannot change their code.
COPY --from=build /brand-records ./
# Those of packages/lifecycle/src/node-arguments.ts: the semi-space size, and the arenas.
ENV NODE_ENV=production \
  NODE_OPTIONS=--max-semi-space-size=16 \
  MALLOC_ARENA_MAX=1 \
  PATH=/brand-records/node_modules/.bin:$PATH \
  ADMIN_PORT=9090
# A number: with a name, Kubernetes cannot see that it is not root. Any other serves as well, such as OpenShift's.
USER 1000:1000
# Each process handles SIGTERM and starts no others, so it needs no init.
CMD ["node", "--enable-source-maps", "gateway/dist/bundle/main.js"]
