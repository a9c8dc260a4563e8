import { option, UsageFailure, withDefault } from "@brand-records/command-line";
import { secretOption } from "../input/delivery-options.ts";
import { command } from "../session.ts";

const DESCRIPTION = `Receive deliveries on this machine, verify each as a receiver must, and print a line for it, until Ctrl-C.

What is verified is accepted with 204, or forwarded: its bytes and headers go to --forward-to as they came, and the status of that response is the answer. What is not is refused and not forwarded.`;

/** Less than the service waits, so that it gets the answer. */
const FORWARD_SECONDS_MAX = 14;

const HELP = `
The service delivers to public URLs alone: use a tunnel of yours that ends at this
port, and register its URL. With --json, a line is one JSON object: received_at,
verified, status, reason, forwarded and event. Standard error says where it listens.

If the receiver gives no response in time, the answer is 504, without a response 502:
the service sends the event again.

Examples:
  brand-records listen --secret-file secret
  brand-records listen --secret-file secret --port 9000 \\
    --forward-to http://localhost:3000/hooks
  brand-records listen --secret-file secret --json | jq -c .event
`;

export const listenCommand = command("listen", {
  summary: "receive deliveries on this machine and show them",
  description: DESCRIPTION,
  options: {
    port: withDefault(option("--port <port>", "where to listen; 0 takes any free port", parsePort), 8787),
    host: withDefault(option("--host <address>", "the address to listen on; 0.0.0.0 lets other machines in"), "127.0.0.1"),
    secretFile: secretOption(),
    forwardTo: option("--forward-to <url>", "a receiver that gets every verified delivery"),
    timeout: withDefault(option("--timeout <seconds>", "for a whole response of it"), String(FORWARD_SECONDS_MAX)),
  },
  help: HELP,
  run: async (session, options) => (await import("../deliveries/listen.ts")).listen(session, options),
});

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageFailure("--port must be a number from 0 to 65535");
}
