import { counted, mandatory, option, printable } from "@brand-records/command-line";
import type { Receiver } from "@brand-records/proto/webhook/v1";
import { emptyListText, namedBrand } from "../brand-lookup.ts";
import { required, UsageFailure } from "../failure.ts";
import { receiverFacts, receiversTable, shortUrl } from "../output/receiver-text.ts";
import { command, group } from "../session.ts";
import { brandCheckOption, brandOption, eventsOption, numberParser, textOption, yesOption } from "./options.ts";
import { noteUrl, printReceiver, printSigningSecret, RECEIVER_ARGUMENTS, receiverKey } from "./receiver-command.ts";
import { disable, enable, sendTest } from "./receivers-enable.ts";
import { activate, rotate } from "./receivers-secrets.ts";

const labelOption = () => textOption("--label <label>", "a name that people recognise, up to 80 characters");
const urlOption = () => textOption("--url <url>", "where events are posted: https, a public host, not a chat's incoming webhook");

const create = command("create", {
  summary: "add a receiver; its signing secret is shown once",
  description:
    "Add a receiver; a brand has at most 20. Its signing secret is shown once. Standard output gets the secret alone, so it can be piped to where the receiver keeps its secrets.",
  options: {
    brand: brandOption("the brand whose events it gets"),
    url: mandatory(urlOption()),
    label: mandatory(labelOption()),
    events: mandatory(eventsOption()),
  },
  examples: [
    [
      "brandctl receivers create --brand brd_… --url https://hooks.brand.example/events --label Ledger --events payout.paid,campaign.settled",
      "a receiver of two event types",
    ],
    [
      "brandctl receivers create --brand brd_… --url https://… --label Ledger --events payout.paid --json | jq -r '.id, .secret'",
      "its id and secret, for a script",
    ],
  ],
  run: async (session, { brand, url, label, events }) => {
    const receiver = { brand_id: namedBrand(session, brand), url, label, events };
    const response = await session.client("webhook.receivers").createReceiver(receiver);
    printSigningSecret(session, response);
    noteUrl(session, url, response);
  },
});

const list = command("list", {
  summary: "list a brand's receivers",
  description:
    "List a brand's receivers, oldest first. Of each URL the host and the beginning of the path are shown, as the rest may be a token; receivers show has the whole URL and label.",
  options: { brand: brandOption("the brand") },
  examples: [["brandctl receivers list --brand brd_… --json | jq '.receivers[] | select(.enabled | not)'", "disabled ones"]],
  run: async (session, { brand }) => {
    const brandId = namedBrand(session, brand);
    const { receivers } = await session.client("webhook.receivers").listReceivers({ brand_id: brandId });
    const none = receivers.length === 0 ? await emptyListText(session, brandId, "The brand has no receivers.") : "";
    session.print({ receivers }, (colors) => receiversTable(receivers, colors, none));
  },
});

const show = command("show", {
  summary: "show a receiver, with its whole URL and how far the rotation of its secret is",
  description:
    "Show a receiver: its state, its last attempt, its settings and its whole URL, which may contain a token; and whether it has a next signing secret, since when, and whether it accepted a test signed with it.",
  arguments: RECEIVER_ARGUMENTS,
  options: { brand: brandCheckOption("receiver") },
  examples: [
    ["brandctl receivers show rcv_…", "is it paused, and what was the last response?"],
    ["brandctl receivers show rcv_… --json | jq .receiver.next_secret_accepted_at", "may the next secret be activated?"],
  ],
  run: async (session, { brand }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    const receiver = required((await session.client("webhook.receivers").getReceiver(key)).receiver, "receiver");
    session.printFacts({ receiver }, receiverFacts(receiver));
  },
});

const update = command("update", {
  summary: "change a receiver's URL, label, events or concurrency",
  description: "Change what is given. The signing secret stays the same; waiting deliveries go to the new URL.",
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    url: urlOption(),
    label: labelOption(),
    events: eventsOption(),
    maxInFlight: option(
      "--max-in-flight <count>",
      "concurrent attempts, 1 to 64; with 1, first attempts about one record are in order",
      numberParser(1, 64, "It must be a whole number from 1 to 64."),
    ),
  },
  examples: [
    ["brandctl receivers update rcv_… --url https://new.brand.example/events", "it has moved"],
    ["brandctl receivers update rcv_… --max-in-flight 1", "one after the other"],
  ],
  run: async (session, { brand, ...given }, receiverId: string) => {
    if (Object.values(given).every((value) => value === undefined)) {
      throw new UsageFailure("Nothing to change: give --url, --label, --events or --max-in-flight", "See brandctl receivers update --help");
    }
    const { url, label, events = [], maxInFlight: max_in_flight } = given;
    const key = await receiverKey(session, receiverId, brand);
    const response = await session.client("webhook.receivers").updateReceiver({ ...key, url, label, events, max_in_flight });
    printReceiver(session, response);
    noteUrl(session, url, response);
  },
});

const remove = command("delete", {
  summary: "delete a receiver permanently",
  description: "Delete a receiver and everything still to be delivered to it. Final: its signing secret is deleted too.",
  arguments: RECEIVER_ARGUMENTS,
  options: {
    brand: brandCheckOption("receiver"),
    yes: yesOption("delete without asking; needed where there is no terminal"),
  },
  examples: [["brandctl receivers delete rcv_… --yes", "for a script"]],
  run: async (session, { brand, yes }, receiverId: string) => {
    const key = await receiverKey(session, receiverId, brand);
    const receivers = session.client("webhook.receivers");
    if (yes !== true) {
      const { receiver } = await receivers.getReceiver(key);
      await session.confirm(questionOf(required(receiver, "receiver")), "Nothing was deleted.");
    }
    const { dropped } = await receivers.deleteReceiver(key);
    const waiting = dropped === 0 ? "" : `, and ${counted(dropped, "waiting delivery", "waiting deliveries")} with it`;
    session.print({ deleted: { ...key, dropped } }, () => `${printable(receiverId)} is deleted${waiting}.`);
  },
});

const questionOf = ({ id, label, url, waiting }: Receiver): string =>
  printable(
    `Permanently delete ${id}, "${label}" at ${shortUrl(url)}, with ${counted(waiting, "waiting delivery", "waiting deliveries")}?`,
  );

export const receiversCommand = group("receivers", "manage where a brand's signed events are delivered", [
  create,
  list,
  show,
  update,
  enable,
  disable,
  rotate,
  activate,
  sendTest,
  remove,
]);
