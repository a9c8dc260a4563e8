import { join } from "node:path";
import type { LauncherConfig } from "./config.ts";
import type { RunningDatabase } from "./database.ts";
import { ROOT, type LocalFiles, type Secrets } from "./local-files.ts";
import { freePorts } from "./ports.ts";
import type { Program } from "./supervisor.ts";

export interface Programs {
  /** Services first, the gateway last: stopped in the opposite order. */
  readonly list: readonly Program[];
  readonly rpc: { readonly accounts: string; readonly plans: string; readonly records: string };
  readonly admin: { readonly gateway: string; readonly accounts: string; readonly plans: string; readonly records: string };
}

/** Every process of the run with its ports. They stay the same when a process is started again. */
export async function planPrograms(
  config: LauncherConfig,
  files: LocalFiles,
  secrets: Secrets,
  database: RunningDatabase,
  inherited: NodeJS.ProcessEnv,
): Promise<Programs> {
  const [accountsRpc, accountsAdmin, plansRpc, plansAdmin, recordsRpc, recordsAdmin, gatewayAdmin] = (await freePorts(7)).map(String) as [
    string,
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const rpc = { accounts: `127.0.0.1:${accountsRpc}`, plans: `127.0.0.1:${plansRpc}`, records: `127.0.0.1:${recordsRpc}` };
  const program = (name: string, directory: string, env: Record<string, string>): Program => ({
    name,
    script: join(ROOT, directory, "dist/main.js"),
    // Nobody balances between the processes of one machine, so nobody needs time to learn that one stops.
    env: { ...inherited, ...env, STOP_GRACE_MS: "0" },
    logFile: join(files.logs, `${name}.log`),
  });
  return {
    rpc,
    admin: {
      gateway: `http://127.0.0.1:${gatewayAdmin}`,
      accounts: `http://127.0.0.1:${accountsAdmin}`,
      plans: `http://127.0.0.1:${plansAdmin}`,
      records: `http://127.0.0.1:${recordsAdmin}`,
    },
    list: [
      program("accounts", "services/accounts", {
        DATABASE_URL: database.urlFor("accounts"),
        RPC_PORT: accountsRpc,
        ADMIN_PORT: accountsAdmin,
        KEY_PEPPERS: inherited["KEY_PEPPERS"] ?? secrets.keyPeppers,
      }),
      program("plans", "services/plans", { DATABASE_URL: database.urlFor("plans"), RPC_PORT: plansRpc, ADMIN_PORT: plansAdmin }),
      program("records", "services/records", { DATABASE_URL: database.urlFor("records"), RPC_PORT: recordsRpc, ADMIN_PORT: recordsAdmin }),
      program("gateway", "gateway", {
        HOST: config.HOST,
        PORT: String(config.PORT),
        ADMIN_PORT: gatewayAdmin,
        // Pages served from this machine, such as a browser's debugging tool for assistants.
        ALLOWED_ORIGINS: inherited["ALLOWED_ORIGINS"] ?? "http://localhost:*,http://127.0.0.1:*,http://[::1]:*",
        ACCOUNTS_ADDRESS: rpc.accounts,
        PLANS_ADDRESS: rpc.plans,
        RECORDS_ADDRESS: rpc.records,
      }),
    ],
  };
}
