import { Command, Option } from "commander";
import { deliveryColumns, deliveryText } from "../output/delivery-text.ts";
import { table } from "../output/table.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";
import { RECEIVER_HELP } from "./of-receiver.ts";
import { parseLimit } from "./parse-limit.ts";
import { readDeliveries } from "./read-deliveries.ts";
import { replay } from "./replay-deliveries.ts";

const BRAND_HELP = "the brand whose deliveries they are";
const LIMIT_DEFAULT = 50;
const STATES = ["pending", "sending", "held", "delivered", "failed"];

export function deliveriesCommand(shell: Shell): Command {
  const deliveries = new Command("deliveries").description(
    "deliveries: what is sent to receivers, what came of it, and sending it once more",
  );
  for (const command of [list, show, replay]) deliveries.addCommand(command(shell));
  return deliveries;
}

interface ListOptions {
  readonly brand: string;
  readonly receiver: string;
  readonly state?: string;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a receiver's deliveries")
    .description("List a receiver's deliveries, newest first: those under way, and those that are over for 30 days.")
    .requiredOption("--brand <id>", BRAND_HELP)
    .requiredOption("--receiver <id>", RECEIVER_HELP)
    .addOption(new Option("--state <state>", "only those in this state (default: all)").choices(STATES))
    .option("--limit <count>", "at most so many", parseLimit, LIMIT_DEFAULT)
    .addHelpText(
      "after",
      examples(["brandctl deliveries list --brand brd_… --receiver rcv_… --state failed", "what it never took, after all attempts"]),
    )
    .action(({ brand, receiver, state, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const wanted = { brandId: brand, receiverId: receiver, state, limit };
        const { deliveries, mayBeMore } = await readDeliveries(await session.deliveries(), wanted);
        const none = `The receiver has no ${state === undefined ? "" : `${state} `}deliveries.`;
        session.print({ deliveries }, (colors) => table(deliveryColumns(colors), deliveries, colors, none));
        if (mayBeMore) session.note(({ dim }) => dim(`Limited to ${limit}; there may be older ones: see --limit`));
      }),
    );
}

function show(shell: Shell): Command {
  return new Command("show")
    .summary("show a delivery and every attempt at it")
    .description("Show a delivery and every attempt at it, with the beginning of what was answered (base64 with --json).")
    .argument("<delivery>", "id of the delivery (dlv_…), as deliveries list shows it")
    .requiredOption("--brand <id>", "the brand whose delivery it is")
    .addHelpText(
      "after",
      examples([
        "brandctl deliveries show dlv_… --brand brd_… --json | jq -r '.attempts[-1].response' | base64 -d",
        "the last answer, as it came",
      ]),
    )
    .action((deliveryId: string, { brand }: { brand: string }, command: Command) =>
      shell.act(command, async (session) => {
        const answer = await (await session.deliveries()).getDelivery({ brand_id: brand, delivery_id: deliveryId });
        const { delivery, attempts } = answer;
        if (delivery == null) throw new Error("webhook answered without a delivery");
        const document = {
          delivery,
          attempts: attempts.map((one) => ({ ...one, response: Buffer.from(one.response).toString("base64") })),
        };
        session.print(document, (colors) => deliveryText(delivery, attempts, colors));
      }),
    );
}
