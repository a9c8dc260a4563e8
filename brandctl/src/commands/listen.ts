import { once } from "node:events";
import { createServer } from "node:http";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import { listenOn, option, printable, withDefault, type Values } from "@brand-records/command-line";
import { namedBrand } from "../brand-lookup.ts";
import { register, unregister, type Registered } from "../listen/registration.ts";
import { command, type Session } from "../session.ts";
import { brandOption, EVENTS_HELP, eventsOption, numberParser } from "./options.ts";

const PORT_DEFAULT = 8787;
const REQUEST_MS = 30_000;

const parsePort = numberParser(0, 65_535, "It must be a port number, such as 8787.");

const OPTIONS = {
  port: withDefault(option("--port <port>", "where to listen; 0 takes any free port", parsePort), PORT_DEFAULT),
  brand: brandOption("the brand whose events it gets"),
  events: eventsOption(`${EVENTS_HELP} (default: all)`),
};

export const listenCommand = command("listen", {
  summary: "run a receiver on this machine and show what arrives",
  description:
    "Register a receiver on 127.0.0.1, and show each delivery that arrives until Ctrl-C, which deletes the receiver. What is verified is accepted with 204, anything else refused. With --json each delivery is one line.\n\n" +
    "The webhook service delivers here only with RECEIVERS_ON_LOOPBACK=true, which is for your own machine. For a receiver that is registered already there is brand-records listen, which takes its secret.",
  options: OPTIONS,
  examples: [
    ["brandctl listen --brand brd_…", "all of a brand's events, until Ctrl-C"],
    ["brandctl listen --brand brd_… --events payout.paid --json | jq .event", "some, for a script"],
  ],
  run: listen,
});

async function listen(session: Session, { port, brand, events = EVENT_TYPE_NAMES }: Values<typeof OPTIONS>): Promise<void> {
  const brandId = namedBrand(session, brand);
  const { arrivalOf, arrivalText } = await import("../listen/arrival.ts");
  const { interrupted, stdout } = session.terminal;
  let setSecret = (_secret: string): void => {};
  // A delivery that comes before its receiver's secret is here waits for it.
  const secret = new Promise<string>((resolve) => (setSecret = resolve));
  const server = createServer({ requestTimeout: REQUEST_MS }, (request, response) => {
    arrivalOf(secret, request, response).then(
      (arrival) => stdout.write(session.json ? `${JSON.stringify(arrival)}\n` : `${arrivalText(arrival, session.colorsFor(stdout))}\n`),
      () => response.destroy(),
    );
  });
  const { url, stop } = await listenOn(server, port);
  let registered: Registered | undefined;
  try {
    registered = await register(session, { brand_id: brandId, url, events });
    setSecret(registered.secret);
    const { id } = registered.receiver;
    session.note(({ bold }) => `Listening on ${bold(url)} until Ctrl-C.`);
    session.note(() => printable(`Registered as ${id}. Try it: brandctl receivers test ${id}`));
    if (!interrupted.aborted) await once(interrupted, "abort");
  } finally {
    await stop();
    if (registered !== undefined) await unregister(session, registered.receiver);
  }
}
