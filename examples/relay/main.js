import { createRelay } from "./relay.js";
import { readSettings } from "./settings.js";

/** Longer than a delivery may take. */
const STOP_MS = 16_000;

/** @param {object} line */
const log = (line) => console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));

const read = readSettings(process.env);
if ("problems" in read) {
  console.error(read.problems.join("\n"));
  process.exit(78);
}
const server = createRelay(read.settings, log);
server.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
server.listen(read.settings.port, () => {
  const address = server.address();
  log({ message: "listening", port: typeof address === "object" ? address?.port : undefined });
});

/** Responds to requests in flight and accepts no new ones. The process exits with the last connection. */
function stop() {
  server.close(() => log({ message: "stopped" }));
  server.closeIdleConnections();
  setTimeout(() => server.closeAllConnections(), STOP_MS).unref();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
