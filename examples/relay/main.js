import { createRelay } from "./relay.js";
import { readSettings } from "./settings.js";

/** Longer than a message to the chat may take (12 s); the README's stop timeout of 20 s leaves time for it. */
const STOP_MS = 13_000;
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
relay.server.on("error", (/** @type {NodeJS.ErrnoException} */ error) => {
  const setting = settingOf(error.code);
  console.error(setting === undefined ? error.message : `${setting} cannot be used: ${error.message}`);
  process.exit(setting === undefined ? 1 : EXIT_CONFIG);
});
relay.server.listen(settings.port, settings.host, () => {
  const address = relay.server.address();
  log({ level: "info", message: "listening", host: settings.host, port: typeof address === "object" ? address?.port : undefined });
});

/** Returns the setting that prevents listening. @param {string | undefined} code */
function settingOf(code = "") {
  if (code === "EADDRINUSE" || code === "EACCES") return "PORT";
  return /^(?:EADDRNOTAVAIL|EAFNOSUPPORT|EINVAL|ENOTFOUND|EAI_[A-Z]+)$/.test(code) ? "HOST" : undefined;
}

let isStopping = false;

/** Responds to requests in flight. The process exits with the last connection. */
function stop() {
  // A further signal, such as a second Ctrl-C, must not end the process in the middle of a post.
  if (isStopping) return;
  isStopping = true;
  relay.stopping();
  // Meanwhile a balancer that asks /readyz stops sending requests here.
  setTimeout(close, settings.stopGraceMs);
}

function close() {
  relay.server.close(() => log({ level: "info", message: "stopped" }));
  relay.server.closeIdleConnections();
  setTimeout(() => relay.server.closeAllConnections(), STOP_MS).unref();
}
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
