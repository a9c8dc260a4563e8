# syntax=docker/dockerfile:1
# One image for all processes; the command chooses. The steps are in deploy/image/build.sh, where they can be run without
# an engine too.

FROM node:24-bookworm-slim AS sources
WORKDIR /sources
COPY . .
RUN deploy/image/build.sh manifests /manifests

FROM node:24-bookworm-slim AS build
WORKDIR /build
# The manifests alone, so that a change of code installs nothing anew.
COPY --from=sources /manifests ./
COPY deploy/image/build.sh deploy/image/
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh dependencies
COPY . .
RUN deploy/image/build.sh compile
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh production /brand-records

# Certificates for processes that speak to each other over a network: see deploy/compose/make-certificates.sh.
FROM node:24-bookworm-slim AS certificates
RUN apt-get update && apt-get install --yes --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*
COPY deploy/compose/make-certificates.sh /usr/local/bin/
# A volume that is empty takes over whose folder it covers.
RUN install -d -o node -g node /certificates
USER node
ENTRYPOINT ["make-certificates.sh", "/certificates"]

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Brand Records" \
  org.opencontainers.image.description="One brand's records, opened to that brand's own integrations." \
  org.opencontainers.image.licenses="MIT"
# Nothing is installed where it runs.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
WORKDIR /brand-records
# Owned by root: what runs cannot change itself.
COPY --from=build /brand-records ./
# The semi-spaces: as in packages/lifecycle/src/node-arguments.ts.
ENV NODE_ENV=production \
  NODE_OPTIONS=--max-semi-space-size=16 \
  PATH=/brand-records/node_modules/.bin:$PATH \
  ADMIN_PORT=9090
USER node
# Each process handles SIGTERM itself and starts no others: it needs no init above it.
CMD ["node", "--enable-source-maps", "gateway/dist/main.js"]
