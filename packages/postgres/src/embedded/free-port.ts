import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the range of ephemeral ports, so that a server finds its port still free when it restarts. */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS_MAX = 200;
/** Processes that draw beside each other have different ports, as a rule: a server listens seconds after its port was drawn. */
const SHARES = 16;
/** Those that this process has given away. */
const drawn = new Set<number>();

/** Returns a loopback TCP port that is free now, once. Another process may take it first: retry where that matters. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = draw();
    if (drawn.has(port)) continue;
    drawn.add(port);
    try {
      await tryPort(port);
      return port;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

function draw(): number {
  const port = randomInt(LOWEST, HIGHEST);
  return port - (port % SHARES) + (process.pid % SHARES);
}

async function tryPort(port: number): Promise<void> {
  const server = createServer();
  await once(server.listen(port, "127.0.0.1"), "listening");
  await once(server.close(), "close");
}
