# syntax=docker/dockerfile:1
# One image for all processes; the command selects one. The steps are in deploy/image/build.sh, which also runs without an
# engine.

FROM node:24-bookworm-slim AS sources
WORKDIR /sources
COPY . .
RUN deploy/image/build.sh manifests /manifests

FROM node:24-bookworm-slim AS build
WORKDIR /build
# Only the manifests, so that a change of code does not reinstall dependencies.
COPY --from=sources /manifests ./
COPY deploy/image/build.sh deploy/image/
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh dependencies
COPY . .
RUN deploy/image/build.sh compile
RUN --mount=type=cache,target=/root/.npm deploy/image/build.sh production /brand-records

# Certificates for processes that call each other over a network: see deploy/compose/make-certificates.sh.
FROM node:24-bookworm-slim AS certificates
RUN apt-get update && apt-get install --yes --no-install-recommends openssl && rm -rf /var/lib/apt/lists/*
COPY deploy/compose/make-certificates.sh /usr/local/bin/
# An empty volume inherits the owner of the folder that it covers.
RUN install -d -o node -g node /certificates
USER node
ENTRYPOINT ["make-certificates.sh", "/certificates"]

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Brand Records" \
  org.opencontainers.image.description="One brand's records, opened to that brand's own integrations." \
  org.opencontainers.image.licenses="MIT"
# The running image installs nothing.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn* /opt/yarn*
WORKDIR /brand-records
# Owned by root, so that processes cannot change their code.
COPY --from=build /brand-records ./
# The semi-space size is that of packages/lifecycle/src/node-arguments.ts.
ENV NODE_ENV=production \
  NODE_OPTIONS=--max-semi-space-size=16 \
  PATH=/brand-records/node_modules/.bin:$PATH \
  ADMIN_PORT=9090
USER node
# Each process handles SIGTERM and starts no others, so it needs no init.
CMD ["node", "--enable-source-maps", "gateway/dist/main.js"]
