import { wrapped } from "@brand-records/command-line";

export interface EnvironmentSetting {
  readonly names: readonly string[];
  readonly what: string;
  readonly isSecret?: boolean;
}

/** What brandctl reads from the environment: for its help, and for docs/settings.md. */
export const ENVIRONMENT: readonly EnvironmentSetting[] = [
  { names: ["BRAND"], what: "the brand where a command needs one and --brand is not given; never used where an id says the brand" },
  {
    names: ["ACCOUNTS_ADDRESS", "PLANS_ADDRESS", "RECORDS_ADDRESS", "WEBHOOK_ADDRESS"],
    what: "host:port of each service's gRPC",
  },
  { names: ["RECORDS_CELLS"], what: "name=host:port, comma-separated: records in each cell that has a name" },
  { names: ["BASE_URL"], what: "origin of the HTTP API, for doctor" },
  { names: ["PUBLIC_URL"], what: "the same as browsers see it, for members link" },
  {
    names: ["GATEWAY_ADMIN", "CONSOLE_ADMIN", "ACCOUNTS_ADMIN", "PLANS_ADMIN", "RECORDS_ADMIN", "WEBHOOK_ADMIN"],
    what: "http://host:port of each process's admin port, comma-separated, for doctor",
  },
  { names: ["PLATFORM_DATABASE_URL"], what: "Postgres, by a login with the role platform, for records set-status", isSecret: true },
  { names: ["RECORDS_DATABASE_URL"], what: "Postgres of records, by a login that owns the schema, with cells", isSecret: true },
  {
    names: ["RECORDS_CELL_DATABASES"],
    what: "name=postgres://…, comma-separated: the same of each cell that has a name",
    isSecret: true,
  },
  { names: ["LOCAL_DIR"], what: "folder of run.json, if npm start uses another than .local" },
  {
    names: ["RPC_TLS_CERT", "RPC_TLS_KEY", "RPC_TLS_CA"],
    what: "PEM files for mutual TLS: all three or none; the certificate must be that of the identity operator",
  },
  { names: ["NO_COLOR"], what: "no colours, on a terminal either" },
  { names: ["COLUMNS"], what: "width of help that is not shown on a terminal" },
];

const COLUMNS = 80;
const WHAT_AT = 27;

/** The settings as help shows them, in lines of at most 80 columns. */
export function environmentHelp(): string {
  return ENVIRONMENT.map(({ names, what }) => {
    const head = wrapped(names.join(", "), COLUMNS - 2).map((line) => `  ${line}`);
    const lines = wrapped(what, COLUMNS - WHAT_AT);
    const last = head.at(-1) ?? "";
    const fits = last.length < WHAT_AT - 1 && head.length === 1;
    const [first = "", ...rest] = lines;
    const indented = (fits ? rest : lines).map((line) => " ".repeat(WHAT_AT) + line);
    return [...head.slice(0, -1), fits ? last.padEnd(WHAT_AT) + first : last, ...indented].join("\n");
  }).join("\n");
}
