import { Command, Option } from "commander";
import { brandOf } from "../brand-lookup.ts";
import { readPages, WEBHOOK_PAGE_SIZE_MAX } from "../connection/read-pages.ts";
import { required } from "../failure.ts";
import { deliveriesTable, deliveryText } from "../output/delivery-text.ts";
import type { Pause } from "../output/outcome-text.ts";
import type { Shell } from "../shell.ts";
import { replay } from "./deliveries-replay.ts";
import { brandCheckOption, DELIVERY_HELP, examples, idArgument, limitOption, noteLimit, receiverOption } from "./options.ts";

const STATES = ["pending", "sending", "held", "delivered", "failed"];

export function deliveriesCommand(shell: Shell): Command {
  const deliveries = new Command("deliveries").description("show deliveries and their attempts, and send them again");
  for (const command of [list, show, replay]) deliveries.addCommand(command(shell));
  return deliveries;
}

interface ListOptions {
  readonly brand?: string;
  readonly receiver: string;
  readonly state?: string;
  readonly limit: number;
}

function list(shell: Shell): Command {
  return new Command("list")
    .summary("list a receiver's deliveries")
    .description("List a receiver's deliveries, newest first: those in progress, and those finished in the last 30 days.")
    .addOption(receiverOption().makeOptionMandatory())
    .addOption(brandCheckOption("receiver"))
    .addOption(new Option("--state <state>", "only those in this state (default: all)").choices(STATES))
    .addOption(limitOption())
    .addHelpText(
      "after",
      examples(["brandctl deliveries list --receiver rcv_… --state failed", "what the receiver never accepted, after all attempts"]),
    )
    .action(({ brand, receiver, state, limit }: ListOptions, command: Command) =>
      shell.act(command, async (session) => {
        const brand_id = await brandOf(session, "receiver", receiver, brand);
        const client = await session.deliveries();
        let pause: Pause = { failures_in_a_row: 0 };
        const listing = await readPages(limit, WEBHOOK_PAGE_SIZE_MAX, async (page) => {
          const { deliveries, next_after_id, paused_until, failures_in_a_row } = await client.listDeliveries({
            brand_id,
            receiver_id: receiver,
            state,
            ...page,
          });
          pause = { paused_until, failures_in_a_row };
          return { items: deliveries, next: next_after_id };
        });
        const { items: deliveries } = listing;
        const none = `The receiver has no ${state === undefined ? "" : `${state} `}deliveries.`;
        session.print({ deliveries, ...pause }, (colors) => deliveriesTable(deliveries, pause, colors, none));
        noteLimit(session, listing, limit);
      }),
    );
}

function show(shell: Shell): Command {
  return new Command("show")
    .summary("show a delivery and every attempt")
    .description("Show a delivery and every attempt, with the beginning of each response (in full, as base64, with --json).")
    .addArgument(idArgument("delivery", DELIVERY_HELP))
    .addOption(brandCheckOption("delivery"))
    .addHelpText(
      "after",
      examples(["brandctl deliveries show dlv_… --json | jq -r '.attempts[-1].response' | base64 -d", "the last response, byte for byte"]),
    )
    .action((deliveryId: string, { brand }: { brand?: string }, command: Command) =>
      shell.act(command, async (session) => {
        const brand_id = await brandOf(session, "delivery", deliveryId, brand);
        const { attempts, paused_until, failures_in_a_row, ...response } = await (
          await session.deliveries()
        ).getDelivery({ brand_id, delivery_id: deliveryId });
        const delivery = required(response.delivery, "delivery");
        const pause: Pause = { paused_until, failures_in_a_row };
        const document = {
          delivery,
          attempts: attempts.map((attempt) => ({ ...attempt, response: Buffer.from(attempt.response).toString("base64") })),
          ...pause,
        };
        session.print(document, (colors) => deliveryText(delivery, attempts, pause, colors));
      }),
    );
}
