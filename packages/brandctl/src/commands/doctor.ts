import { Command } from "commander";
import { verdictOf, type CheckResult, type Verdict } from "../doctor/check-result.ts";
import { runChecks } from "../doctor/checks.ts";
import { ADMIN_FLAG } from "../connection/admin-addresses.ts";
import { printable } from "../output/printable.ts";
import type { Colors } from "../terminal.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./options.ts";

/** 0 alone says that all was looked at and is well: a script needs no more. */
const EXIT_CODES: Readonly<Record<Verdict, number>> = { well: 0, failed: 1, degraded: 1, not_all_checked: 3 };

export function doctorCommand(shell: Shell): Command {
  return new Command("doctor")
    .summary("what is reachable, what is degraded, and what to do")
    .description(
      "Look at everything brandctl knows an address of: the run file, the gRPC health of accounts, plans, records and webhook, the\n" +
        "readiness and the metrics of every process, and whether the base URL serves the API's description.\n\n" +
        "Readiness and metrics are at each process's admin port (ADMIN_HOST, ADMIN_PORT). npm start writes its own into the run file; elsewhere\n" +
        `set GATEWAY_ADMIN, ACCOUNTS_ADMIN, PLANS_ADMIN, RECORDS_ADMIN and WEBHOOK_ADMIN, or pass ${ADMIN_FLAG}. Several replicas: comma-separated,\n` +
        "or the flag several times.\n\n" +
        "Exit codes: 0 everything was checked and is well; 1 something is down or degraded; 3 nothing wrong was found, but\n" +
        "not everything could be checked.",
    )
    .option(`${ADMIN_FLAG} <process=url>`, "admin address of gateway, accounts, plans, records or webhook; repeatable", collect, [])
    .addHelpText(
      "after",
      examples(
        ["brandctl doctor --json | jq -e .ok", "for a script"],
        ["brandctl doctor --admin records=http://records:9090", "an address the settings do not have"],
        ["brandctl doctor --json | jq '.checks[] | select(.state != \"ok\")'", "what is not as it should be, or was not checked"],
      ),
    )
    .action(({ admin }: { readonly admin: readonly string[] }, command: Command) =>
      shell.act(command, async (session) => {
        const checks = await runChecks(session, admin);
        const verdict = verdictOf(checks);
        session.print({ ok: verdict === "well", verdict, checks }, (colors) => checksText(checks, verdict, colors));
        return EXIT_CODES[verdict];
      }),
    );
}

const collect = (value: string, previous: readonly string[]): readonly string[] => [...previous, value];

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
  const count = checks.filter(({ state }) => state === "not_checked").length;
  const unchecked = count === 0 ? "" : ` ${count} of ${checks.length} checks could not be made.`;
  switch (verdict) {
    case "well":
      return colors.green("All is well.");
    case "not_all_checked":
      return colors.yellow(`Nothing wrong was found, but not everything was checked:${unchecked.toLowerCase()}`);
    case "degraded":
      return colors.yellow(`Everything serves, but not all is well.${unchecked}`);
    case "failed":
      return colors.red(`Something is not as it should be.${unchecked}`);
  }
}
