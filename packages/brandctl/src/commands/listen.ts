import { AppError } from "@brand-records/errors";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { Command } from "commander";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { arrivalOf, arrivalText } from "../listening/arrival-text.ts";
import { startLocalReceiver } from "../listening/local-receiver.ts";
import { SIGNING_SECRET, verifyDelivery, type ReceivedDelivery } from "../listening/verify-delivery.ts";
import { printable } from "../output/printable.ts";
import { counted } from "../output/table.ts";
import type { Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { EVENT_TYPES } from "./event-types.ts";
import { examples } from "./examples.ts";
import { answered, EVENTS_HELP, typesIn } from "./of-receiver.ts";
import { parsePort } from "./parse-limit.ts";

const PORT_DEFAULT = 8787;
const LABEL = "brandctl listen";
/** One that does not fit may be anybody's; two in a row are likely the receiver's own, by another secret. */
const MISFITS_TOLD_AT = 2;

interface ListenOptions {
  readonly port: number;
  readonly secret?: readonly string[];
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
    .option(
      "--secret <secret>",
      "the receiver's signing secret (whsec_…), several times if any of them will do; without it nothing is verified",
      (secret: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), secret],
    )
    .option("--header-word <word>", "the word in X-<word>-Signature", "Service")
    .option("--create", "register it by itself, and delete that receiver at the end")
    .option("--brand <id>", "with --create: the brand whose events it gets")
    .option("--events <types>", `with --create: ${EVENTS_HELP} (default: all)`)
    .addHelpText(
      "after",
      examples(
        ["brandctl listen --create --brand brd_…", "all of a brand's events, as long as it runs"],
        ["brandctl listen --secret whsec_… --port 9000", "what a receiver registered before gets"],
        ["brandctl listen --secret whsec_… --secret whsec_…", "the secret in force and the next one, while it is rotated"],
      ),
    )
    .action((options: ListenOptions, command: Command) => shell.act(command, (session) => listen(session, options)));
}

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { port, headerWord: word, create = false, brand, events } = options;
  requireSense(options);
  const { interrupted, stdout } = session.terminal;
  let secrets = options.secret ?? [];
  let misfits = 0;
  const onDelivery = (delivery: ReceivedDelivery): number => {
    // Registered, and not told the secret yet: it comes again.
    if (create && secrets.length === 0) return 503;
    const nowMs = Date.now();
    const verification = secrets.length === 0 ? undefined : verifyDelivery(delivery, secrets, word, nowMs);
    const status = verification?.refusedFor === undefined ? 204 : 401;
    const arrival = arrivalOf(delivery, verification, { status, word, nowMs });
    stdout.write(session.json ? `${JSON.stringify(arrival)}\n` : `${arrivalText(arrival, session.colorsFor(stdout))}\n`);
    if (status === 204) misfits = 0;
    if (verification?.byOther === true) {
      misfits += 1;
      if (misfits === MISFITS_TOLD_AT) tellOfRotation(session, create);
    }
    return status;
  };
  const local = await startLocalReceiver(port, onDelivery);
  let receiver: Receiver | undefined;
  try {
    if (create && brand !== undefined) {
      const made = await register(session, { brand, url: local.url, events: events === undefined ? EVENT_TYPES : typesIn(events) });
      [receiver, secrets] = [made.receiver, [made.secret]];
    }
    tell(session, local.url, receiver, secrets.length > 0);
    await aborted(interrupted);
  } finally {
    await local.stop();
    if (receiver !== undefined) await unregister(session, receiver);
  }
}

function requireSense({ secret = [], create = false, brand, events, headerWord }: ListenOptions): void {
  const help = "See brandctl listen --help";
  if (create && brand === undefined) throw new UsageFailure("--create needs --brand: whose events it gets", help);
  if (create && secret.length > 0) throw new UsageFailure("--create makes a secret of its own: leave out --secret", help);
  if (!create && (brand !== undefined || events !== undefined)) throw new UsageFailure("--brand and --events go with --create", help);
  if (!secret.every((one) => SIGNING_SECRET.test(one))) {
    throw new UsageFailure("--secret must be whsec_ and 44 characters of base64, as it was shown", help);
  }
  if (!/^[A-Za-z][A-Za-z0-9]{0,30}$/.test(headerWord)) throw new UsageFailure("--header-word must be a word of letters and digits", help);
}

interface Registration {
  readonly brand: string;
  readonly url: string;
  readonly events: string[];
}

async function register(session: Session, asked: Registration): Promise<{ receiver: Receiver; secret: string }> {
  try {
    return await createOne(session, asked);
  } catch (error) {
    if (error instanceof AppError && error.kind === "duplicate_url") {
      await removeLeftOver(session, asked, error);
      return createOne(session, asked);
    }
    if (!(error instanceof AppError) || !["not_https", "private_address"].includes(error.kind)) throw error;
    throw new CommandFailure(error.kind, "The webhook service does not deliver to this machine.", {
      cause: error,
      hint: "Start it with RECEIVERS_ON_LOOPBACK=true, on a machine of your own only.",
    });
  }
}

async function createOne(session: Session, { brand, url, events }: Registration): Promise<{ receiver: Receiver; secret: string }> {
  const made = await (await session.receivers()).createReceiver({ brand_id: brand, url, label: LABEL, events });
  return { receiver: answered(made.receiver), secret: made.secret };
}

/**
 * Deletes the receiver that has the URL already, as one is left by a run that was killed: the port is ours, so nobody listens
 * there any more.
 *
 * @throws CommandFailure if it is somebody's own, by its label
 */
async function removeLeftOver(session: Session, { brand, url }: Registration, cause: AppError): Promise<void> {
  const client = await session.receivers();
  const { href } = new URL(url);
  const found = (await client.listReceivers({ brand_id: brand })).receivers.find((one) => one.url === href);
  // Deleted meanwhile.
  if (found === undefined) return;
  if (found.label !== LABEL) {
    throw new CommandFailure(cause.kind, printable(`The receiver ${found.id}, "${found.label}", has the URL ${url} already.`), {
      cause,
      hint: `brandctl receivers delete ${found.id} --brand ${brand}; or listen elsewhere: --port 0`,
    });
  }
  try {
    const { dropped } = await client.deleteReceiver({ brand_id: brand, receiver_id: found.id });
    const waited = dropped === 0 ? "" : `, with ${counted(dropped, "delivery", "deliveries")} that waited for it`;
    session.note(({ dim }) => dim(printable(`${found.id}, left here by an earlier brandctl listen, is deleted${waited}.`)));
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
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

function tell(session: Session, url: string, receiver: Receiver | undefined, verifies: boolean): void {
  session.note(({ bold }) => `Listening on ${bold(url)} until Ctrl-C.`);
  if (receiver !== undefined) {
    session.note(() =>
      printable(`Registered as ${receiver.id}. Try it: brandctl receivers test ${receiver.id} --brand ${receiver.brand_id}`),
    );
    return;
  }
  if (verifies) return;
  session.note(({ yellow }) => yellow("Nothing is verified: --secret whsec_… is missing."));
  session.note(
    () => `Register it: brandctl receivers create --brand BRAND --url ${url} --label "This machine" --events ${EVENT_TYPES.join(",")}`,
  );
}

/** How to go on: the secrets are read once, and the one that `--create` made is kept nowhere else. */
function tellOfRotation(session: Session, create: boolean): void {
  const how = create
    ? "Ctrl-C and the same command make a receiver with a secret of its own."
    : "Ctrl-C, then the same command with the new one as well: --secret OLD --secret NEW.";
  session.note(({ yellow }) => yellow(`Two in a row do not fit: the signing secret may have been rotated. ${how}`));
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
