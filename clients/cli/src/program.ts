import type { ProgramDeclaration } from "@brand-records/command-line";
import { eventsCommand } from "./commands/events.ts";
import { exportCommand } from "./commands/export.ts";
import { listenCommand } from "./commands/listen.ts";
import { listCommand } from "./commands/list.ts";
import { plansCommand } from "./commands/plans.ts";
import { receiversCommand } from "./commands/receivers.ts";
import { syncCommand } from "./commands/sync.ts";
import { whoamiCommand } from "./commands/whoami.ts";
import type { Session } from "./session.ts";

const DESCRIPTION =
  "One brand's records: lists, exports, a copy that stays current, campaign plans and signed events. It needs nothing but an API key, and to test a receiver only its signing secret.";

const HELP = `
Environment:
  BRAND_RECORDS_URL        address of the service, such as https://records.example
  BRAND_RECORDS_KEY        the brand's API key, brk_…; never an argument, which
                           every user of the machine can read
  BRAND_RECORDS_KEY_FILE   a file with the key instead, read for each request: a key
                           that is replaced in it is used at once
  BRAND_RECORDS_DB         where sync copies to, if --db is not given
  NO_COLOR                 no colours, on a terminal either

Exit codes:
    0  done; every rule is kept
    1  failed, or refused; a delivery is not verified; a receiver refused an
       event or breaks a rule
    2  wrong usage: arguments, options, files or environment; nothing was sent
    3  no rule is broken, and not all were checked: a limiter responded, say
  130  interrupted; export and sync continue when they are run again

Examples:
  # whose key is this, and what may it do?
  brand-records whoami

  # the newest approved submissions, and every conversion of October
  brand-records list submissions --status approved
  brand-records export conversions --created-from 2026-10-01T00:00:00+08:00 \\
    --created-before 2026-11-01T00:00:00+08:00 --format csv --out october.csv

  # a copy of everything in SQLite, brought up to date each night
  brand-records sync --db copy.db

  # an event to a receiver on this machine, then all rules
  brand-records events send payout.paid --to http://localhost:3000/hooks \\
    --secret-file secret
  brand-records receivers prove --to http://localhost:3000/hooks \\
    --secret-file secret
`;

export const programOf = (version: string): ProgramDeclaration<Session> => ({
  name: "brand-records",
  version,
  description: DESCRIPTION,
  help: HELP,
  commands: [whoamiCommand, listCommand, exportCommand, syncCommand, plansCommand, eventsCommand, listenCommand, receiversCommand],
});
