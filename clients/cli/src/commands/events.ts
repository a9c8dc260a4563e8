import type { EventType } from "@brand-records/client";
import { mandatory, option } from "@brand-records/command-line";
import { DELIVERY_OPTIONS, headerWordOption, secretOption, typeArgument } from "../input/delivery-options.ts";
import { command, group } from "../session.ts";

const SEND_HELP = `
The event is sample data of records that do not exist, in the form of the published schema, and marked as a test unless
--live is given. No server is needed but the receiver. The command sends to the URL alone, and follows no redirects.

With --record it is the event by which a record came to its status, as the service builds it, with an id of its own:
the record is read with the key. previous_status, which records do not have, is the usual one. Records with events are
submissions (sub_…) that are approved or rejected, payouts (po_…) that are paid, and campaigns (cmp_…) that are settled.

With --body it is the event of that file, as it is: the console shows it on a delivery's page.

Examples:
  brand-records events send payout.paid --to http://localhost:3000/hooks \\
    --secret-file secret
  brand-records events send --record po_01kakdm9s0e4vb2n6p3q8r7t5w \\
    --to http://localhost:3000/hooks --secret-file secret
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

const send = command("send", {
  summary: "send a signed event to a receiver",
  description: "Send a receiver an event, signed as the service signs it, and show how it responded.",
  arguments: [typeArgument()],
  options: {
    ...DELIVERY_OPTIONS,
    record: option("--record <id>", "the event of this record, instead of sample data"),
    body: option("--body <file>", "an event to send as it is, instead of sample data; - for standard input"),
  },
  help: SEND_HELP,
  run: async (session, options, type: EventType | undefined) =>
    (await import("../deliveries/send-event.ts")).sendEvent(session, type, options),
});

const verify = command("verify", {
  summary: "verify a delivery that arrived",
  description: "Verify the signatures and the timestamp of a delivery, as a receiver must.",
  options: {
    secretFile: secretOption(),
    headers: mandatory(option("--headers <file>", "the request's headers; - for standard input")),
    body: mandatory(option("--body <file>", "the raw body; - for standard input")),
    at: option("--at <time>", "the time it arrived: Unix time in seconds, or RFC 3339. Default: now"),
    headerWord: headerWordOption(),
  },
  help: VERIFY_HELP,
  run: async (session, options) => (await import("../deliveries/verify-event.ts")).verifyEvent(session, options),
});

export const eventsCommand = group("events", "Signed events.", [send, verify], "signed events");
