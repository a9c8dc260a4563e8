import type { Receiver } from "@brand-records/proto/webhook/v1";
import { Command, InvalidArgumentError } from "commander";
import { counted, printable } from "@brand-records/command-line";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import { required, UsageFailure } from "../failure.ts";
import { receiversTable, receiverText, shortUrl } from "../output/receiver-text.ts";
import type { Shell } from "../shell.ts";
import { brandOption, eventsOption, examples, textParser } from "./options.ts";
import { noteUrl, printReceiver, printSigningSecret, receiverCommand, receiverKey } from "./receiver-command.ts";
import { disable, enable, sendTest } from "./receivers-enable.ts";
import { activate, rotate } from "./receivers-secrets.ts";

const LABEL_HELP = "a name that people recognise, up to 80 characters";
const URL_HELP = "where events are posted: https, a public host, not a chat's incoming webhook";

export function receiversCommand(shell: Shell): Command {
  const receivers = new Command("receivers").description("manage where a brand's signed events are delivered");
  for (const command of [create, list, show, update, enable, disable, rotate, activate, sendTest, remove])
    receivers.addCommand(command(shell));
  return receivers;
}

interface CreateOptions {
  readonly brand?: string;
  readonly url: string;
  readonly label: string;
  readonly events: string[];
}

function create(shell: Shell): Command {
  return new Command("create")
    .summary("add a receiver; its signing secret is shown once")
    .description(
      "Add a receiver; a brand has at most 20. Its signing secret is shown once. Standard output gets the secret alone, so it can be piped to where the receiver keeps its secrets.",
    )
    .addOption(brandOption("the brand whose events it gets"))
    .requiredOption("--url <url>", URL_HELP, textParser("--url"))
    .requiredOption("--label <label>", LABEL_HELP, textParser("--label"))
    .addOption(eventsOption().makeOptionMandatory())
    .addHelpText(
      "after",
      examples(
        [
          "brandctl receivers create --brand brd_… --url https://hooks.brand.example/events --label Ledger --events payout.paid,campaign.settled",
          "a receiver of two event types",
        ],
        [
          "brandctl receivers create --brand brd_… --url https://… --label Ledger --events payout.paid --json | jq -r '.id, .secret'",
          "its id and secret, for a script",
        ],
      ),
    )
    .action(({ brand, url, label, events }: CreateOptions, command: Command) =>
      shell.act(command, async (session) => {
        const receiver = { brand_id: namedBrand(session, brand), url, label, events };
        const response = await (await session.receivers()).createReceiver(receiver);
        printSigningSecret(session, response);
        noteUrl(session, url, response);
      }),
    );
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a brand's receivers")
    .description(
      "List a brand's receivers, oldest first. Of each URL the host and the beginning of the path are shown, as the rest may be a token; receivers show has the whole URL and label.",
    )
    .addOption(brandOption("the brand"))
    .addHelpText(
      "after",
      examples(["brandctl receivers list --brand brd_… --json | jq '.receivers[] | select(.enabled | not)'", "disabled ones"]),
    )
    .action(({ brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brandId = namedBrand(session, brand);
        const { receivers } = await (await session.receivers()).listReceivers({ brand_id: brandId });
        const none = receivers.length === 0 ? await emptyListText(session, brandId, "The brand has no receivers.") : "";
        session.print({ receivers }, (colors) => receiversTable(receivers, colors, none));
      }),
    );
}

function show(shell: Shell): Command {
  return receiverCommand("show", "show a receiver, with its whole URL and how far the rotation of its secret is")
    .description(
      "Show a receiver: its state, its last attempt, its settings and its whole URL, which may contain a token; and whether it has a next signing secret, since when, and whether it accepted a test signed with it.",
    )
    .addHelpText(
      "after",
      examples(
        ["brandctl receivers show rcv_…", "is it paused, and what was the last response?"],
        ["brandctl receivers show rcv_… --json | jq .receiver.next_secret_accepted_at", "may the next secret be activated?"],
      ),
    )
    .action((receiverId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        const receiver = required((await (await session.receivers()).getReceiver(key)).receiver, "receiver");
        session.print({ receiver }, (colors) => receiverText(receiver, colors));
      }),
    );
}

interface UpdateOptions {
  readonly brand?: string;
  readonly url?: string;
  readonly label?: string;
  readonly events?: string[];
  readonly maxInFlight?: number;
}

function update(shell: Shell): Command {
  return receiverCommand("update", "change a receiver's URL, label, events or concurrency")
    .description("Change what is given. The signing secret stays the same; waiting deliveries go to the new URL.")
    .option("--url <url>", URL_HELP, textParser("--url"))
    .option("--label <label>", LABEL_HELP, textParser("--label"))
    .addOption(eventsOption())
    .option(
      "--max-in-flight <count>",
      "concurrent attempts, 1 to 64; with 1, first attempts about one record are in order",
      parseMaxInFlight,
    )
    .addHelpText(
      "after",
      examples(
        ["brandctl receivers update rcv_… --url https://new.brand.example/events", "it has moved"],
        ["brandctl receivers update rcv_… --max-in-flight 1", "one after the other"],
      ),
    )
    .action((receiverId: string, { brand, url, label, events, maxInFlight }: UpdateOptions, command: Command) =>
      shell.act(command, async (session) => {
        if (url === undefined && label === undefined && events === undefined && maxInFlight === undefined) {
          throw new UsageFailure(
            "Nothing to change: give --url, --label, --events or --max-in-flight",
            "See brandctl receivers update --help",
          );
        }
        const change = { url, label, events: events ?? [], max_in_flight: maxInFlight };
        const key = await receiverKey(session, receiverId, brand);
        const response = await (await session.receivers()).updateReceiver({ ...key, ...change });
        printReceiver(session, response);
        noteUrl(session, url, response);
      }),
    );
}

function parseMaxInFlight(text: string): number {
  const count = Number(text);
  if (!/^[1-9]\d?$/.test(text) || count > 64) throw new InvalidArgumentError("It must be a whole number from 1 to 64.");
  return count;
}

function remove(shell: Shell): Command {
  return receiverCommand("delete", "delete a receiver permanently")
    .description("Delete a receiver and everything still to be delivered to it. Final: its signing secret is deleted too.")
    .option("-y, --yes", "delete without asking; needed where there is no terminal")
    .addHelpText("after", examples(["brandctl receivers delete rcv_… --yes", "for a script"]))
    .action((receiverId: string, { brand, yes }: { brand?: string; yes?: boolean }, command: Command) =>
      shell.act(command, async (session) => {
        const key = await receiverKey(session, receiverId, brand);
        const receivers = await session.receivers();
        if (yes !== true) {
          const { receiver } = await receivers.getReceiver(key);
          await session.confirm(questionOf(required(receiver, "receiver")), "Nothing was deleted.");
        }
        const { dropped } = await receivers.deleteReceiver(key);
        const waiting = dropped === 0 ? "" : `, and ${counted(dropped, "waiting delivery", "waiting deliveries")} with it`;
        session.print({ deleted: { ...key, dropped } }, () => `${printable(receiverId)} is deleted${waiting}.`);
      }),
    );
}

const questionOf = ({ id, label, url, waiting }: Receiver): string =>
  printable(
    `Permanently delete ${id}, "${label}" at ${shortUrl(url)}, with ${counted(waiting, "waiting delivery", "waiting deliveries")}?`,
  );
