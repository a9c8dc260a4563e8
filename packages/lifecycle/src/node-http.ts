import type * as Http from "node:http";
import { createRequire } from "node:module";

/**
 * `node:http` without the 3 to 7 MiB that its import costs each process: an import reads every export, and reading `WebSocket` compiles all
 * of Node's undici.
 */
export const http = createRequire(import.meta.url)("node:http") as typeof Http;
