import { createServer } from "node:net";

/**
 * Returns `wanted` if it is free on loopback; else, with `orAny`, any free port.
 *
 * @throws if `wanted` is taken and `orAny` is false
 */
export async function freePort(wanted, { orAny }) {
  try {
    return await tryPort(Number(wanted));
  } catch (error) {
    if (error.code === "EADDRINUSE" && orAny) return tryPort(0);
    throw error;
  }
}

function tryPort(port) {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });
}
