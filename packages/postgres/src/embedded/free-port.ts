import { createServer, type AddressInfo } from "node:net";

/** A loopback TCP port nobody listens on at this moment. Somebody else may still be quicker: retry where that matters. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
