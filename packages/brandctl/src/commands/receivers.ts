import type { Receiver } from "@brand-records/proto/webhook/v1";
import { Command } from "commander";
import { CommandFailure, UsageFailure } from "../failure.ts";
import { printable } from "../output/printable.ts";
import { receiverColumns, shortUrl } from "../output/receiver-text.ts";
import { counted, table } from "../output/table.ts";
import type { Shell } from "../shell.ts";
import { brandOf } from "./brand-argument.ts";
import { confirm } from "./confirm.ts";
import { examples } from "./examples.ts";
import { answered, EVENTS_HELP, ofReceiver, show, showSecret, typesIn } from "./of-receiver.ts";
import { parseInFlight } from "./parse-limit.ts";
import { activate, rotate } from "./receiver-secrets.ts";
import { sendTest } from "./send-test.ts";
import { whyNone } from "./why-none.ts";

const LABEL_HELP = "how people know it, up to 80 characters";
const URL_HELP = "where events are posted: https, a public host, no chat's incoming webhook";

export function receiversCommand(shell: Shell): Command {
  const receivers = new Command("receivers").description("receivers: where a brand's signed events are delivered");
  for (const command of [create, list, update, enable, disable, rotate, activate, sendTest, remove]) receivers.addCommand(command(shell));
  return receivers;
}

interface CreateOptions {
  readonly brand: string;
  readonly url: string;
  readonly label: string;
  readonly events: string;
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("add a receiver; its signing secret is shown once")
    .description(
      "Add a receiver, at most 20 to a brand. Its signing secret is shown once, now; it cannot be shown again.\n" +
        "The secret alone is written to standard output, so that it can be piped to where it is kept.",
    )
    .requiredOption("--brand <id>", "the brand whose events it gets")
    .requiredOption("--url <url>", URL_HELP)
    .requiredOption("--label <label>", LABEL_HELP)
    .requiredOption("--events <types>", EVENTS_HELP)
    .addHelpText(
      "after",
      examples(
        [
          "brandctl receivers create --brand brd_… --url https://hooks.brand.example/events --label Ledger --events payout.paid,campaign.settled",
          "a receiver of two types",
        ],
        [
          "brandctl receivers create --brand brd_… --url https://… --label Ledger --events payout.paid --json | jq -r '.id, .secret'",
          "its id and secret, for a script",
        ],
      ),
    )
    .action(({ brand, url, label, events }: CreateOptions, command: Command) =>
      shell.act(command, async (session) => {
        const asked = { brand_id: brand, url, label, events: typesIn(events) };
        const { receiver, secret } = await (await session.receivers()).createReceiver(asked);
        showSecret(session, answered(receiver), secret);
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's receivers")
    .description(
      "List a brand's receivers, oldest first. Of URLs the host and the beginning of the path are shown, as the rest may be a token;\n" +
        "--json has them in full.",
    )
    .argument("[brand]", "id of the brand")
    .option("--brand <id>", "the same")
    .addHelpText("after", examples(["brandctl receivers list brd_… --json | jq '.receivers[] | select(.enabled | not)'", "disabled ones"]))
    .action((argument: string | undefined, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = brandOf(argument, brand, command);
        const { receivers } = await (await session.receivers()).listReceivers({ brand_id: brandId });
        const none = receivers.length === 0 ? await whyNone(session, brandId, "The brand has no receivers.") : "";
        session.print({ receivers }, (colors) => table(receiverColumns(colors), receivers, colors, none));
      }),
    );
}

interface UpdateOptions {
  readonly brand: string;
  readonly url?: string;
  readonly label?: string;
  readonly events?: string;
  readonly maxInFlight?: number;
}

function update(shell: Shell): Command {
  return ofReceiver("update", "change a receiver's URL, label, events or attempts at once")
    .description("Change what is given. The signing secret stays; what waits is delivered to the new URL.")
    .option("--url <url>", URL_HELP)
    .option("--label <label>", LABEL_HELP)
    .option("--events <types>", EVENTS_HELP)
    .option("--max-in-flight <count>", "attempts at once, 1 to 64; with 1 first attempts are in order, for each record", parseInFlight)
    .addHelpText(
      "after",
      examples(
        ["brandctl receivers update rcv_… --brand brd_… --url https://new.brand.example/events", "it has moved"],
        ["brandctl receivers update rcv_… --brand brd_… --max-in-flight 1", "one after the other"],
      ),
    )
    .action((receiverId: string, { brand, url, label, events, maxInFlight }: UpdateOptions, command: Command) =>
      shell.act(command, async (session) => {
        if (url === undefined && label === undefined && events === undefined && maxInFlight === undefined) {
          throw new UsageFailure(
            "nothing to change is given: --url, --label, --events or --max-in-flight",
            "See brandctl receivers update --help",
          );
        }
        const change = { url, label, events: events === undefined ? [] : typesIn(events), max_in_flight: maxInFlight };
        const { receiver } = await (await session.receivers()).updateReceiver({ brand_id: brand, receiver_id: receiverId, ...change });
        show(session, answered(receiver));
      }),
    );
}

interface EnableOptions {
  readonly brand: string;
  readonly release?: boolean;
  readonly drop?: boolean;
}

function enable(shell: Shell): Command {
  return ofReceiver("enable", "send to a receiver again")
    .description(
      "Send to a receiver again. What was held while it was disabled is either sent now or dropped: one of the two must be said.",
    )
    .option("--release", "send what was held")
    .option("--drop", "drop what was held, for good")
    .addHelpText(
      "after",
      examples(["brandctl receivers enable rcv_… --brand brd_… --release", "it is well again, and wants what it missed"]),
    )
    .action((receiverId: string, { brand, release, drop }: EnableOptions, command: Command) =>
      shell.act(command, async (session) => {
        if ((release === true) === (drop === true)) {
          throw new UsageFailure(
            "say what becomes of the deliveries that were held: --release sends them, --drop drops them for good",
            "See brandctl receivers enable --help",
          );
        }
        const receivers = await session.receivers();
        const key = { brand_id: brand, receiver_id: receiverId };
        const before = answered((await receivers.getReceiver(key)).receiver);
        if (before.enabled) {
          session.print({ receiver: before, dropped: 0 }, (colors) => table(receiverColumns(colors), [before], colors, ""));
          session.note(({ dim }) => dim("It was enabled already: nothing changed, and nothing was dropped."));
          return;
        }
        const { receiver, dropped } = await receivers.enableReceiver({ ...key, held: drop === true ? "drop" : "release" });
        const enabled = answered(receiver);
        session.print({ receiver: enabled, dropped }, (colors) => table(receiverColumns(colors), [enabled], colors, ""));
        if (drop === true) session.note(({ dim }) => dim(`${counted(dropped, "delivery", "deliveries")} dropped.`));
      }),
    );
}

function disable(shell: Shell): Command {
  return ofReceiver("disable", "hold what would be sent to a receiver")
    .description("Send nothing more to a receiver. What waits and what comes is held until it is enabled or deleted.")
    .action((receiverId: string, { brand }: { brand: string }, command: Command) =>
      shell.act(command, async (session) => {
        const { receiver } = await (await session.receivers()).disableReceiver({ brand_id: brand, receiver_id: receiverId });
        show(session, answered(receiver));
      }),
    );
}

function remove(shell: Shell): Command {
  return ofReceiver("delete", "delete a receiver, for good")
    .description("Delete a receiver, with everything that was still to be delivered. Final: its signing secret is gone as well.")
    .option("--yes", "do not ask; needed where nobody can be asked")
    .addHelpText("after", examples(["brandctl receivers delete rcv_… --brand brd_… --yes", "for a script"]))
    .action((receiverId: string, { brand, yes }: { brand: string; yes?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const receivers = await session.receivers();
        const key = { brand_id: brand, receiver_id: receiverId };
        if (yes !== true && !(await confirm(session, questionOf(answered((await receivers.getReceiver(key)).receiver))))) {
          throw new CommandFailure("not_confirmed", "Nothing was deleted.");
        }
        const { dropped } = await receivers.deleteReceiver(key);
        const what = dropped === 0 ? "" : `, and ${counted(dropped, "delivery", "deliveries")} that waited for it`;
        session.print({ deleted: { ...key, dropped } }, () => `${printable(receiverId)} is deleted${what}.`);
      }),
    );
}

const questionOf = ({ id, label, url, waiting }: Receiver): string =>
  printable(`Delete ${id}, "${label}" at ${shortUrl(url)}, and ${counted(waiting, "delivery", "deliveries")} that wait for it, for good?`);
