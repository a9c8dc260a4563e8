import { counted, openProgressBar, UsageFailure, type Values } from "@brand-records/command-line";
import { DELIVERY_OPTIONS, timeoutMs, typeOption } from "../input/delivery-options.ts";
import { command, group, type Session } from "../session.ts";

const DESCRIPTION = `Send a receiver what it must accept and what it must refuse, and report which rules of the service's guide (/docs/webhooks) it keeps.

It sends about sixty requests, one after another, to the URL given and nowhere else: it follows no redirects, and calls no service. The events are marked as tests unless --live is given. Their records do not exist.`;

const HELP = `
Results:
  ok           the rule is kept
  BROKEN       it is not: below stand the rule and what to do
  look         it is kept as far as responses show; a person must look
  not checked  nothing is known: the receiver accepts no event, or what it
               refused may have been refused by a limiter or a proxy (429, 503,
               502, Retry-After, or the same event, correctly signed, is not
               accepted afterwards). Exempt this machine, or allow 90 requests
               a minute, and prove it again

Exit codes:
  0 every rule is kept, 1 one is broken, 3 none is broken, and not all were
  checked

After the forgeries of each rule the receiver gets the same event, correctly
signed, and must accept it. As soon as it accepts no new event either, nothing
more is sent.

Whether the same event twice acted once, HTTP cannot show: look into what the
receiver stores. A receiver ignores tests, so use --live for that.

The events are of the brand brd_test. If the receiver checks the brand, name it:
--brand ID. If it responds with 502, 503 or 504 to the very first request, as
while it starts, that is sent again, up to three times.

Examples:
  brand-records receivers prove --to http://localhost:3000/hooks \\
    --secret-file secret
  brand-records receivers prove --to https://hooks.brand.example/events \\
    --secret-file secret --next-secret-file next --json
`;

const OPTIONS = { ...DELIVERY_OPTIONS, type: typeOption() };

const prove = command("prove", {
  summary: "check a receiver against every rule",
  description: DESCRIPTION,
  options: OPTIONS,
  help: HELP,
  run: proveAndReport,
});

export const receiversCommand = group("receivers", "Receivers of events.", [prove], "receivers of events");

async function proveAndReport(session: Session, options: Values<typeof OPTIONS>): Promise<number> {
  const { deliveryTarget, guideOf, headerWord, originOf } = await import("../deliveries/delivery-target.ts");
  const { proveReceiver, RULES } = await import("../prove/prove-receiver.ts");
  const { exitCodeOf, reportDocument, reportText, requestsOf } = await import("../prove/report.ts");
  const { Signer } = await import("../prove/signer.ts");
  const { isEventType } = await import("../deliveries/sample-event.ts");
  const { type, live = false, brand } = options;
  if (!isEventType(type)) throw new UsageFailure(`there is no type ${type}`);
  const to = deliveryTarget(options.to);
  const secret = await onlySecret(session, options.secretFile, "--secret-file");
  const nextSecret =
    options.nextSecretFile === undefined ? undefined : await onlySecret(session, options.nextSecretFile, "--next-secret-file");
  const { env } = session.terminal;
  const signer = new Signer({ secret, nextSecret, type, live, brand, origin: originOf(env), headerWord: headerWord(options.headerWord) });
  session.note(({ dim }) => dim(`Sending to ${to.href} and nowhere else. Redirects are not followed. ${marked(live)}`));
  const bar = openProgressBar(session, "proving", RULES.length, { unit: "rules", atEnd: "" });
  let done = 0;
  try {
    const onRule = (): void => {
      bar.update(done, done);
      done += 1;
    };
    const { interrupted: signal } = session.terminal;
    const verdicts = await proveReceiver(to, signer, { timeoutMs: timeoutMs(options), signal, onRule });
    bar.stop();
    session.print(reportDocument(to, type, verdicts, guideOf(env)), (colors) => reportText(verdicts, guideOf(env), colors));
    if (nextSecret === undefined) session.note(({ dim }) => dim("The next secret of a rotation was not checked: --next-secret-file."));
    session.note(({ dim }) => dim(`${counted(requestsOf(verdicts), "request")} sent.`));
    return exitCodeOf(verdicts);
  } finally {
    bar.stop();
  }
}

async function onlySecret(session: Session, path: string, option: string): Promise<string> {
  const [secret = "", ...others] = await session.input.readSecrets(path, option);
  if (others.length === 0) return secret;
  throw new UsageFailure(`${option} must have one secret`, "Give the one of a rotation that is not active yet with --next-secret-file.");
}

const marked = (live: boolean): string =>
  live ? "The events are not marked as tests: the receiver acts on them." : "The events are marked as tests (--live: not marked).";
