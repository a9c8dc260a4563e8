import { once } from "node:events";
import { EVENT_TYPE_NAMES } from "@brand-records/resources";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { declared, flag, option, printable, withDefault, type Values } from "@brand-records/command-line";
import { Option } from "commander";
import { namedBrand } from "../brand-lookup.ts";
import { UsageFailure } from "../failure.ts";
import { arrivalOf, arrivalText } from "../listen/arrival-text.ts";
import { startLocalReceiver } from "../listen/local-receiver.ts";
import { register, unregister } from "../listen/registration.ts";
import { SIGNING_SECRET, verifyDelivery, type ReceivedDelivery } from "../listen/verify-delivery.ts";
import { command, type Session } from "../session.ts";
import { brandOption, EVENTS_HELP, eventsOption, numberParser } from "./options.ts";

const PORT_DEFAULT = 8787;
/** One signature that does not match may be from anyone; two in a row are likely the receiver's own, by another secret. */
const MISMATCHES_NOTED_AT = 2;

const parsePort = numberParser(0, 65_535, "It must be a port number, such as 8787.");

const OPTIONS = {
  port: withDefault(option("--port <port>", "where to listen; 0 takes any free port", parsePort), PORT_DEFAULT),
  secret: declared<readonly string[] | undefined>(
    new Option(
      "--secret <secret>",
      "the receiver's signing secret (whsec_…), repeatable if several may match; without it nothing is verified",
    ).argParser((secret: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), secret]),
  ),
  headerWord: withDefault(option("--header-word <word>", "the word in X-<word>-Signature"), "Service"),
  create: flag("--create", "register this receiver, and delete it at the end"),
  brand: brandOption("with --create: the brand whose events it gets"),
  events: eventsOption(`with --create: ${EVENTS_HELP} (default: all)`),
};

export const listenCommand = command("listen", {
  summary: "run a receiver on this machine and show what arrives",
  description:
    "Run a receiver on 127.0.0.1 until Ctrl-C. Each delivery is verified as a receiver must verify it, shown, and accepted with 204, or refused with 401 if its signature does not match. With --json each delivery is one line.\n\n" +
    "The webhook service delivers here only with RECEIVERS_ON_LOOPBACK=true, which is for your own machine.",
  options: OPTIONS,
  examples: [
    ["brandctl listen --create --brand brd_…", "all of a brand's events, until Ctrl-C"],
    ["brandctl listen --secret whsec_… --port 9000", "for a receiver that is registered already"],
    ["brandctl listen --secret whsec_… --secret whsec_…", "the current secret and the next one, during a rotation"],
  ],
  run: listen,
});

type ListenOptions = Values<typeof OPTIONS>;

async function listen(session: Session, options: ListenOptions): Promise<void> {
  const { port, headerWord, create = false, brand, events } = options;
  checkOptions(options);
  const brandId = create ? namedBrand(session, brand) : undefined;
  const { interrupted, stdout } = session.terminal;
  let secrets = options.secret ?? [];
  let mismatches = 0;
  const onDelivery = (delivery: ReceivedDelivery): number => {
    // Registered, but the secret is not here yet: the delivery is retried.
    if (create && secrets.length === 0) return 503;
    const nowMs = Date.now();
    const verification = secrets.length === 0 ? undefined : verifyDelivery(delivery, secrets, headerWord, nowMs);
    const status = verification?.refusedFor === undefined ? 204 : 401;
    const arrival = arrivalOf(delivery, verification, { status, headerWord, nowMs });
    stdout.write(session.json ? `${JSON.stringify(arrival)}\n` : `${arrivalText(arrival, session.colorsFor(stdout))}\n`);
    if (status === 204) mismatches = 0;
    if (verification?.byOther === true) {
      mismatches += 1;
      if (mismatches === MISMATCHES_NOTED_AT) noteRotation(session, create);
    }
    return status;
  };
  const local = await startLocalReceiver(port, onDelivery);
  let receiver: Receiver | undefined;
  try {
    if (brandId !== undefined) {
      const registered = await register(session, { brand_id: brandId, url: local.url, events: events ?? EVENT_TYPE_NAMES });
      [receiver, secrets] = [registered.receiver, [registered.secret]];
    }
    noteStart(session, local.url, receiver, secrets.length > 0);
    if (!interrupted.aborted) await once(interrupted, "abort");
  } finally {
    await local.stop();
    if (receiver !== undefined) await unregister(session, receiver);
  }
}

/** @throws UsageFailure for options that do not go together */
function checkOptions({ secret = [], create = false, brand, events, headerWord }: ListenOptions): void {
  const help = "See brandctl listen --help";
  if (create && secret.length > 0) throw new UsageFailure("--create makes a new secret: leave out --secret", help);
  if (!create && (brand !== undefined || events !== undefined)) throw new UsageFailure("--brand and --events go with --create", help);
  if (!secret.every((one) => SIGNING_SECRET.test(one))) {
    throw new UsageFailure("--secret must be whsec_ and 44 characters of base64, as it was shown", help);
  }
  if (!/^[A-Za-z][A-Za-z0-9]{0,30}$/.test(headerWord)) throw new UsageFailure("--header-word must be a word of letters and digits", help);
}

function noteStart(session: Session, url: string, receiver: Receiver | undefined, verifies: boolean): void {
  session.note(({ bold }) => `Listening on ${bold(url)} until Ctrl-C.`);
  if (receiver !== undefined) {
    session.note(() => printable(`Registered as ${receiver.id}. Try it: brandctl receivers test ${receiver.id}`));
    return;
  }
  if (verifies) return;
  session.note(({ yellow }) => yellow("Nothing is verified: --secret whsec_… is missing."));
  session.note(
    () => `Register it: brandctl receivers create --brand BRAND --url ${url} --label "This machine" --events ${EVENT_TYPE_NAMES.join(",")}`,
  );
}

/** The secrets are read once at the start, and the one that `--create` made is kept nowhere else. */
function noteRotation(session: Session, create: boolean): void {
  const next = create
    ? "Press Ctrl-C and repeat the command: it makes a receiver with a new secret."
    : "Press Ctrl-C and repeat the command with both secrets: --secret OLD --secret NEW.";
  session.note(({ yellow }) => yellow(`Two signatures in a row do not match: the signing secret may have been rotated. ${next}`));
}
