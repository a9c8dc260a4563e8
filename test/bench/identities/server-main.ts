import { runProcess } from "@brand-records/lifecycle";
import { serveRpc, service } from "@brand-records/rpc";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { TrivialService } from "./trivial-service.ts";

/** Serves the trivial method as the services serve theirs: with RPC_TLS_CERT, RPC_TLS_KEY and RPC_TLS_CA of the environment. */
const { RPC_TLS_CERT = "", RPC_TLS_KEY = "", RPC_TLS_CA = "" } = process.env;
const log = openLog("bench", "info");

await runProcess({
  log,
  stopGraceMs: 0,
  async start(life) {
    const server = await serveRpc({
      config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA, RPC_TLS_WITHOUT_IDS: "true" },
      services: [service(TrivialService, { same: async (bytes: Buffer) => bytes })],
      methods: { [TrivialService.same.path]: { isIdempotent: false, callers: ["gateway"], actor: "caller" } },
      log,
      metrics: openMetrics("bench"),
    });
    return { port: life.own("server", server).port };
  },
});
