import { declared, option, printable, withDefault, type ColorName } from "@brand-records/command-line";
import { Option } from "commander";
import { ADMIN_FLAG } from "../connection/admin-addresses.ts";
import { verdictOf, type CheckResult, type Verdict } from "../doctor/check-process.ts";
import { runSettledChecks } from "../doctor/checks.ts";
import { command } from "../session.ts";
import type { Colors } from "../terminal.ts";
import { numberParser } from "./options.ts";

/** The exit code is 0 only if everything was checked and is healthy. */
const VERDICTS: Readonly<Record<Verdict, { readonly exitCode: number; readonly paint: ColorName; readonly text: string }>> = {
  well: { exitCode: 0, paint: "green", text: "Everything is healthy." },
  failed: { exitCode: 1, paint: "red", text: "Something is down." },
  degraded: { exitCode: 1, paint: "yellow", text: "Everything serves, but something is degraded." },
  not_all_checked: { exitCode: 3, paint: "yellow", text: "Nothing wrong was found." },
};

const parseWait = numberParser(0, 3_600, "It must be a whole number of seconds, such as 60.");

export const doctorCommand = command("doctor", {
  summary: "check what is reachable and what is degraded, with remedies",
  description:
    "Check everything whose address is known: the run file, the gRPC health of accounts, plans, records and webhook, the readiness and the metrics of every process, and whether the base URL serves the API's description.\n\n" +
    "Readiness and metrics are at each process's admin port (ADMIN_HOST, ADMIN_PORT). npm start writes the addresses into the run file; elsewhere set GATEWAY_ADMIN, CONSOLE_ADMIN, ACCOUNTS_ADMIN, PLANS_ADMIN, RECORDS_ADMIN and WEBHOOK_ADMIN, " +
    `or pass ${ADMIN_FLAG}. Several replicas: separate them by commas, or repeat the flag.\n\n` +
    "The checks are repeated while something is wrong and a process started less than a minute ago, or is stopping.\n\n" +
    "Exit codes: 0 everything was checked and is healthy; 1 something is down or degraded; 3 nothing wrong was found, but not everything could be checked.",
  options: {
    admin: declared<readonly string[]>(
      new Option(`${ADMIN_FLAG} <process=url>`, "admin address of gateway, console, accounts, plans, records or webhook; repeatable")
        .argParser((value: string, earlier: readonly string[]) => [...earlier, value])
        .default([], "the settings, else the run file"),
    ),
    wait: withDefault(option("--wait <seconds>", "how long to repeat the checks at most", parseWait), 60),
  },
  examples: [
    ["brandctl doctor --json | jq -e .ok", "for a script"],
    ["brandctl doctor --admin records=http://records:9090", "with an address that is not in the settings"],
    ["brandctl doctor --json | jq '.checks[] | select(.state != \"ok\")'", "what is wrong or was not checked"],
  ],
  run: async (session, { admin, wait }) => {
    const checks = await runSettledChecks(session, admin, wait);
    const verdict = verdictOf(checks);
    session.print({ ok: verdict === "well", verdict, checks }, (colors) => checksText(checks, verdict, colors));
    return VERDICTS[verdict].exitCode;
  },
});

function checksText(checks: readonly CheckResult[], verdict: Verdict, colors: Colors): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: colors.green("✓"), degraded: colors.yellow("!"), failed: colors.red("✗"), not_checked: colors.yellow("-") };
  const lines = checks.flatMap(({ name, state, detail, remedy }) => [
    `${marks[state]} ${name.padEnd(width)}  ${printable(detail)}`,
    ...(remedy === undefined || state === "ok" ? [] : [`  ${" ".repeat(width)}  ${colors.yellow(printable(remedy))}`]),
  ]);
  return [...lines, "", verdictText(checks, verdict, colors)].join("\n");
}

function verdictText(checks: readonly CheckResult[], verdict: Verdict, colors: Colors): string {
  const uncheckedCount = checks.filter(({ state }) => state === "not_checked").length;
  const unchecked = uncheckedCount === 0 ? "" : ` ${uncheckedCount} of ${checks.length} checks could not be made.`;
  const { paint, text } = VERDICTS[verdict];
  return colors[paint](text + unchecked);
}
