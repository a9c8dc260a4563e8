import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { Command } from "commander";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { arrivalOf, arrivalText } from "../listening/arrival-text.ts";
import { startLocalReceiver } from "../listening/local-receiver.ts";
import { SIGNING_SECRET, verifyDelivery, type ReceivedDelivery } from "../listening/verify-delivery.ts";
import { printable } from "../output/printable.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { EVENT_TYPES } from "./event-types.ts";
import { examples } from "./examples.ts";
import { answered, EVENTS_HELP, typesIn } from "./of-receiver.ts";
import { parsePort } from "./parse-limit.ts";

const PORT_DEFAULT = 8787;
const LABEL = "brandctl listen";

interface ListenOptions {
  readonly port: number;
  readonly secret?: string;
  readonly headerWord: string;
  readonly create?: boolean;
  readonly brand?: string;
  readonly events?: string;
}

export function listenCommand(shell: Shell): Command {
  return new Command("listen")
    .summary("be a receiver on this machine, and show what arrives")
    .description(
      "Be a receiver on 127.0.0.1 until Ctrl-C: verify each delivery as a receiver has to, show it, and answer 204, or 401 where its\n" +
        "signature does not fit. The webhook service delivers here only with RECEIVERS_ON_LOOPBACK=true, on a machine of one's own.\n" +
        "With --json each delivery is one line.",
    )
    .option("--port <port>", "where to listen; 0 for any that is free", parsePort, PORT_DEFAULT)
    .option("--secret <secret>", "the receiver's signing secret (whsec_…); without it nothing is verified")
    .option("--header-word <word>", "the word in X-<word>-Signature", "Service")
    .option("--create", "register it by itself, and delete that receiver at the end")
    .option("--brand <id>", "with --create: the brand whose events it gets")
    .option("--events <types>", `with --create: ${EVENTS_HELP} (default: all)`)
    .addHelpText(
      "after",
      examples(
        ["brandctl listen --create --brand brd_…", "all of a brand's events, as long as it runs"],
        ["brandctl listen --secret whsec_… --port 9000", "what a receiver registered before gets"],
      ),
    )
    .action((options: ListenOptions, command: Command) => shell.act(command, (session) => listen(session, options)));
}

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { port, headerWord: word, create = false, brand, events } = options;
  requireSense(options);
  const { interrupted, stdout } = session.terminal;
  let secret = options.secret;
  const onDelivery = (delivery: ReceivedDelivery): number => {
    // Registered, and not told the secret yet: it comes again.
    if (create && secret === undefined) return 503;
    const nowMs = Date.now();
    const verification = secret === undefined ? undefined : verifyDelivery(delivery, secret, word, nowMs);
    const status = verification?.refusedFor === undefined ? 204 : 401;
    const arrival = arrivalOf(delivery, verification, { status, word, nowMs });
    stdout.write(session.json ? `${JSON.stringify(arrival)}\n` : `${arrivalText(arrival, session.colorsFor(stdout))}\n`);
    return status;
  };
  const local = await startLocalReceiver(port, onDelivery);
  let receiver: Receiver | undefined;
  try {
    if (create && brand !== undefined) {
      const made = await register(session, { brand, url: local.url, events: events === undefined ? EVENT_TYPES : typesIn(events) });
      [receiver, secret] = [made.receiver, made.secret];
    }
    tell(session, local.url, receiver, secret);
    await aborted(interrupted);
  } finally {
    await local.stop();
    if (receiver !== undefined) await unregister(session, receiver);
  }
}

function requireSense({ secret, create = false, brand, events, headerWord }: ListenOptions): void {
  const help = "See brandctl listen --help";
  if (create && brand === undefined) throw new UsageFailure("--create needs --brand: whose events it gets", help);
  if (create && secret !== undefined) throw new UsageFailure("--create makes a secret of its own: leave out --secret", help);
  if (!create && (brand !== undefined || events !== undefined)) throw new UsageFailure("--brand and --events go with --create", help);
  if (secret !== undefined && !SIGNING_SECRET.test(secret)) {
    throw new UsageFailure("--secret has to be whsec_ and 44 characters of base64, as it was shown", help);
  }
  if (!/^[A-Za-z][A-Za-z0-9]{0,30}$/.test(headerWord)) throw new UsageFailure("--header-word has to be a word of letters and digits", help);
}

async function register(
  session: Session,
  { brand, url, events }: { readonly brand: string; readonly url: string; readonly events: string[] },
): Promise<{ receiver: Receiver; secret: string }> {
  try {
    const made = await (await session.receivers()).createReceiver({ brand_id: brand, url, label: LABEL, events });
    return { receiver: answered(made.receiver), secret: made.secret };
  } catch (error) {
    if (!(error instanceof AppError) || !["not_https", "private_address"].includes(error.kind)) throw error;
    throw new CommandFailure(error.kind, "The webhook service does not deliver to this machine.", {
      cause: error,
      hint: "Start it with RECEIVERS_ON_LOOPBACK=true, on a machine of your own only.",
    });
  }
}

/** Also after Ctrl-C, which ends everything else. */
async function unregister(session: Session, { brand_id, id }: Receiver): Promise<void> {
  try {
    await (await session.receivers(new AbortController().signal)).deleteReceiver({ brand_id, receiver_id: id });
    session.note(({ dim }) => dim(`${printable(id)} is deleted.`));
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") return;
    throw new CommandFailure("not_deleted", `The receiver ${id} could not be deleted.`, {
      cause: error,
      hint: `brandctl receivers delete ${id} --brand ${brand_id} --yes`,
    });
  }
}

function tell(session: Session, url: string, receiver: Receiver | undefined, secret: string | undefined): void {
  session.note(({ bold }) => `Listening on ${bold(url)} until Ctrl-C.`);
  if (receiver !== undefined) {
    session.note(() =>
      printable(`Registered as ${receiver.id}. Try it: brandctl receivers test ${receiver.id} --brand ${receiver.brand_id}`),
    );
    return;
  }
  if (secret !== undefined) return;
  session.note(({ yellow }) => yellow("Nothing is verified: --secret whsec_… is missing."));
  session.note(
    () => `Register it: brandctl receivers create --brand BRAND --url ${url} --label "This machine" --events ${EVENT_TYPES.join(",")}`,
  );
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
