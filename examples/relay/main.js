import { createRelay } from "./relay.js";
import { readSettings } from "./settings.js";

/** Longer than a message to the chat may take, shorter than the 10 s that Docker leaves for a stop. */
const STOP_MS = 9_000;
/** EX_CONFIG of sysexits.h. */
const EXIT_CONFIG = 78;

/** @param {object} line */
const log = (line) => console.log(JSON.stringify({ time: new Date().toISOString(), ...line }));

const read = readSettings(process.env);
if ("problems" in read) {
  console.error(read.problems.join("\n"));
  process.exit(EXIT_CONFIG);
}
const { settings } = read;
const relay = createRelay(settings, log);
relay.server.on("error", (error) => {
  console.error(error.message);
  process.exit(1);
});
relay.server.listen(settings.port, settings.host, () => {
  const address = relay.server.address();
  log({ level: "info", message: "listening", host: settings.host, port: typeof address === "object" ? address?.port : undefined });
});

/** Responds to requests in flight. The process exits with the last connection. */
function stop() {
  relay.stopping();
  // Meanwhile a balancer that asks /readyz stops sending requests here.
  setTimeout(close, settings.stopGraceMs);
}

function close() {
  relay.server.close(() => log({ level: "info", message: "stopped" }));
  relay.server.closeIdleConnections();
  setTimeout(() => relay.server.closeAllConnections(), STOP_MS).unref();
}
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
