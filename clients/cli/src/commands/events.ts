import { Command } from "commander";
import {
  addDeliveryOptions,
  headerWordOption,
  secretOption,
  typeArgument,
  type SendOptions,
  type VerifyOptions,
} from "../input/delivery-options.ts";
import type { Shell } from "../session.ts";

const SEND_HELP = `
The event is sample data of records that do not exist, in the form of the published schema, and marked as a test unless
--live is given. With --body it is the event of that file: the console shows it on a delivery's page. No server is
needed but the receiver. The command sends to the URL alone, and follows no redirects.

Examples:
  brand-records events send payout.paid --to http://localhost:3000/hooks \\
    --secret-file secret
  brand-records events send submission.rejected --live \\
    --to http://localhost:3000/hooks --secret-file - < secret
`;

const VERIFY_HELP = `
The headers are lines of "Name: value", or one JSON object. The body must be the bytes as they arrived.

Examples:
  brand-records events verify --secret-file secret --headers headers.txt \\
    --body body.json
  brand-records events verify --secret-file secret --headers headers.txt \\
    --body body.json --at 1795227310     # as of when it arrived
`;

export function eventsCommand(shell: Shell): Command {
  const send = new Command("send")
    .summary("send a signed event to a receiver")
    .description("Send a receiver an event, signed as the service signs it, and show how it responded.")
    .addArgument(typeArgument());
  addDeliveryOptions(send)
    .option("--body <file>", "an event to send as it is, instead of sample data; - for standard input")
    .addHelpText("after", SEND_HELP)
    .action((type: string, options: SendOptions, command: Command) =>
      shell.act(command, async (session) => (await import("../deliveries/send-event.ts")).sendEvent(session, type, options)),
    );
  const verify = new Command("verify")
    .summary("verify a delivery that arrived")
    .description("Verify the signatures and the timestamp of a delivery, as a receiver must.")
    .addOption(secretOption())
    .requiredOption("--headers <file>", "the request's headers; - for standard input")
    .requiredOption("--body <file>", "the raw body; - for standard input")
    .option("--at <time>", "the time it arrived: Unix time in seconds, or RFC 3339. Default: now")
    .addOption(headerWordOption())
    .addHelpText("after", VERIFY_HELP)
    .action((options: VerifyOptions, command: Command) =>
      shell.act(command, async (session) => (await import("../deliveries/verify-event.ts")).verifyEvent(session, options)),
    );
  return new Command("events").summary("signed events").description("Signed events.").addCommand(send).addCommand(verify);
}
