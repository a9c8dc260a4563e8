import { setTimeout as pause } from "node:timers/promises";
import { Agent } from "undici";
import { BODY_BYTES, LIMIT_IN_FLIGHT, LIMIT_SECONDS } from "./settings.ts";

/** The upper bound: the same requests in a bare undici loop, without database, signatures and log. */

const ports = (process.env["PORTS"] ?? "").split(",").map(Number);
const body = Buffer.from(JSON.stringify({ data: "x".repeat(BODY_BYTES - 11) }));
const agent = new Agent({ pipelining: 1 });
let done = 0;
let isStopping = false;

async function loop(port: number): Promise<void> {
  while (!isStopping) {
    const { body: response } = await agent.request({
      origin: `http://127.0.0.1:${port}`,
      path: "/",
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    await response.dump();
    done += 1;
  }
}

const loops = Array.from({ length: LIMIT_IN_FLIGHT }, (_, index) => loop(ports[index % ports.length] ?? 0));
// Warm-up: connections open, code is compiled.
await pause((LIMIT_SECONDS * 1_000) / 3);
const before = done;
const startedAt = performance.now();
await pause(LIMIT_SECONDS * 1_000);
const perSecond = (done - before) / ((performance.now() - startedAt) / 1_000);
isStopping = true;
await Promise.all(loops);
await agent.close();
// Goes on until it is stopped: a program that ends by itself has failed.
process.on("disconnect", () => process.exit());
process.send?.({ ready: { perSecond } });
