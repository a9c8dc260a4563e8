import type { ProgramDeclaration } from "@brand-records/command-line";
import { auditCommand } from "./commands/audit.ts";
import { brandsCommand } from "./commands/brands.ts";
import { deliveriesCommand } from "./commands/deliveries.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { eventsCommand } from "./commands/events.ts";
import { keysCommand } from "./commands/keys.ts";
import { listenCommand } from "./commands/listen.ts";
import { membersCommand } from "./commands/members.ts";
import { plansCommand } from "./commands/plans.ts";
import { receiversCommand } from "./commands/receivers.ts";
import { requestsCommand } from "./commands/requests.ts";
import { recordsCommand } from "./commands/records.ts";
import { environmentHelp } from "./environment.ts";
import type { Session } from "./session.ts";

const DESCRIPTION = [
  "The operator's command line of Brand Records: brands with their members, keys, failed requests and audit log, records, campaign plans, receivers, deliveries and events.",
  "It calls the accounts, plans, records and webhook services over gRPC. Their addresses come from flags, else from settings in the environment, else from .local/run.json, which npm start writes; brandctl searches for it from the current folder upwards.",
].join("\n\n");

const HELP = `
Settings:
${environmentHelp()}

Exit codes:
    0  done
    1  failed, or refused by a service; an import had bad lines; doctor found
       something down or degraded
    2  wrong usage: arguments, options or BRAND are wrong; nothing was changed
    3  doctor found nothing wrong, but could not check everything
    4  a brand is deleted, but messages that may name it are still in the event
       log
  130  interrupted

Examples:
  # is everything there?
  brandctl doctor

  # a brand, its owner, a key, a year of records
  brandctl brands create --name "Ulap at Araw" --tier plus --verified
  export BRAND=brd_…
  brandctl members add ana@brand.example --role owner
  brandctl keys create --name Reporting
  brandctl records generate --import

  # a link that signs the owner in, once, and who changed what
  brandctl members link ana@brand.example
  brandctl audit list

  # plans that assistants have prepared for people to complete
  brandctl plans list --status pending

  # where events go, and what happened lately
  brandctl receivers create --url https://hooks.brand.example/events \\
    --label Ledger --events payout.paid
  brandctl deliveries list --receiver rcv_… --state failed
  brandctl events list

  # a receiver on this machine that shows what arrives, until Ctrl-C
  brandctl listen --brand brd_…
`;

const COMMANDS = [
  brandsCommand,
  membersCommand,
  keysCommand,
  auditCommand,
  requestsCommand,
  recordsCommand,
  plansCommand,
  receiversCommand,
  deliveriesCommand,
  eventsCommand,
  listenCommand,
  doctorCommand,
];

export const programOf = (version: string): ProgramDeclaration<Session> => ({
  name: "brandctl",
  version,
  description: DESCRIPTION,
  options: [
    ["--accounts-address <address>", "gRPC of accounts, host:port"],
    ["--plans-address <address>", "gRPC of plans, host:port"],
    ["--records-address <address>", "gRPC of records, host:port"],
    ["--webhook-address <address>", "gRPC of webhook, host:port"],
    ["--base-url <url>", "origin of the HTTP API"],
    ["--tls-cert <file>", "client certificate for mutual TLS, of the identity operator, PEM"],
    ["--tls-key <file>", "key of the client certificate, PEM"],
    ["--tls-ca <file>", "CA of the services' certificates, PEM"],
  ],
  help: HELP,
  commands: COMMANDS,
});
