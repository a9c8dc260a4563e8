import type { Http2SecureServer } from "node:http2";
import type { Logger, Registry } from "@brand-records/telemetry";
import { Server, type ServiceDefinition, setLogger, type UntypedServiceImplementation } from "@grpc/grpc-js";
import type { z } from "zod";
import { type AuditSink, type Grants, withActors } from "./actors.ts";
import { boundHandshakes } from "./bound-handshakes.ts";
import { Certificates } from "./certificates.ts";
import { serverCredentials } from "./credentials.ts";
import { guardCalls } from "./guard.ts";
import { implement, observeCalls, type ServedService } from "./handlers.ts";
import { type Methods, OWN_METHODS } from "./methods.ts";
import { MESSAGE_BYTES_MAX, type rpcServerSettings } from "./settings.ts";

/** Running calls are cancelled after this. */
const DRAIN_MS = 10_000;

type RpcServerConfig = { readonly [Name in keyof typeof rpcServerSettings]?: z.output<(typeof rpcServerSettings)[Name]> };

export interface ServeOptions {
  readonly config: RpcServerConfig & { readonly RPC_HOST: string; readonly RPC_PORT: number };
  readonly services: readonly ServedService[];
  readonly log: Logger;
  readonly metrics: Registry;
  /** Needed by services with methods that act for people. */
  readonly grants?: Grants;
  /** Needed by services whose methods change something for people. */
  readonly audit?: AuditSink;
  /** What the services' methods say of themselves. Default: what their proto says. */
  readonly methods?: Methods;
}

export interface RpcServer {
  readonly port: number;
  /** Refuses new calls, finishes the running ones, and cancels those that remain after 10 s. */
  stop(): Promise<void>;
}

/** Serves the services and grpc.health.v1 over gRPC. */
export async function serveRpc({ config, services, log, metrics, grants, audit, methods = OWN_METHODS }: ServeOptions): Promise<RpcServer> {
  // Loaded only here: it reads and compiles a .proto file with protobufjs, which processes that only call others do without.
  const { HealthImplementation } = await import("grpc-health-check");
  keepMetadataOutOfLog();
  const certificates = Certificates.of(config);
  const credentials = serverCredentials(certificates, config.RPC_HOST);
  const server = new Server({
    // Clients resolve names again only when a connection ends: without this, new replicas get no traffic.
    "grpc.max_connection_age_ms": 60_000 + Math.floor(Math.random() * 60_000),
    // An aged connection takes no new calls and ends with its last one: an import may take hours.
    "grpc.max_connection_age_grace_ms": 24 * 60 * 60 * 1_000,
    "grpc.max_receive_message_length": MESSAGE_BYTES_MAX,
  });
  const guard = guardCalls({ certificates, config, methods, log, metrics });
  const observer = observeCalls(log, metrics);
  const health = new HealthImplementation({ "": "SERVING" });
  for (const served of services) {
    const { definition, implementation } = implement(withActors(served, { methods, grants, audit, log }), observer, methods);
    server.addService(definition, guard(definition, implementation));
    const name = Object.values(served.definition)[0]?.path.split("/")[1];
    if (name !== undefined) health.setStatus(name, "SERVING");
  }
  health.addToServer({
    addService: (definition: ServiceDefinition, implementation: UntypedServiceImplementation) =>
      server.addService(definition, guard(definition, implementation)),
  });

  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${config.RPC_HOST}:${config.RPC_PORT}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const endHandshakes = certificates === undefined ? [] : tlsServersOf(server).map((each) => boundHandshakes(each));
  return {
    port,
    async stop() {
      const drained = drain(server, log);
      for (const end of endHandshakes) end();
      await drained;
      certificates?.release();
    },
  };
}

/** The servers that grpc-js listens with, which it does not show: a test says so if a later release keeps them elsewhere. */
const tlsServersOf = (server: Server): Http2SecureServer[] => [
  ...(server as unknown as { readonly http2Servers: ReadonlyMap<Http2SecureServer, unknown> }).http2Servers.keys(),
];

function drain(server: Server, log: Logger): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      log.warn({ drain_ms: DRAIN_MS }, "drain timed out, running calls cancelled");
      server.forceShutdown();
      resolve();
    }, DRAIN_MS);
    server.tryShutdown(() => {
      clearTimeout(deadline);
      resolve();
    });
  });
}

/** Keeps metadata out of what grpc-js writes to standard error: it quotes a value that it leaves out as no printable ASCII, such as a grant. */
function keepMetadataOutOfLog(): void {
  setLogger({
    error: (...texts: unknown[]) => {
      if (!String(texts[0]).startsWith("Failed to add metadata entry")) console.error("grpc:", ...texts);
    },
  });
}
