import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Serves on a free port, and tells the benchmark which, until the benchmark ends. */
export function serveVariant(server: Server): void {
  server.listen(0, "127.0.0.1", () => process.send?.({ ready: { port: (server.address() as AddressInfo).port } }));
  exitWithParent();
}

/** exit() writes the CPU profile; the signal alone would not. */
export function exitWithParent(): void {
  for (const end of ["SIGTERM", "disconnect"]) process.on(end, () => process.exit());
}
