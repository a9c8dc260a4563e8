import { Command } from "commander";
import { runChecks, type CheckResult } from "../checking/checks.ts";
import { printable } from "../output/printable.ts";
import type { Colors } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

export function doctorCommand(shell: Shell): Command {
  return new Command("doctor")
    .summary("what is reachable, what is not, and what to do")
    .description(
      "Look at everything brandctl knows an address of: the run file, the gRPC health of accounts, plans, records and webhook, the\n" +
        "readiness of every process, and whether the base URL serves the API's description. Exit code 1 if something is not as it should be;\n" +
        "what only warns, as events that wait while Kafka is away, leaves it 0.",
    )
    .addHelpText(
      "after",
      examples(
        ["brandctl doctor --json | jq -e .ok", "for a script"],
        ["brandctl doctor --json | jq '.checks[] | select(.state == \"warning\")'", "what serves without something it needs"],
      ),
    )
    .action((_options: object, command: Command) =>
      shell.act(command, async (session) => {
        const checks = await runChecks(session);
        const ok = checks.every(({ state }) => state !== "failed");
        session.print({ ok, checks }, (colors) => checksText(checks, ok, colors));
        return ok ? 0 : 1;
      }),
    );
}

function checksText(checks: readonly CheckResult[], ok: boolean, colors: Colors): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const marks = { ok: colors.green("✓"), warning: colors.yellow("!"), failed: colors.red("✗"), unknown: colors.dim("-") };
  const lines = checks.flatMap(({ name, state, detail, remedy }) => [
    `${marks[state]} ${name.padEnd(width)}  ${state === "unknown" ? colors.dim(printable(detail)) : printable(detail)}`,
    ...(remedy === undefined || state === "ok" ? [] : [`  ${" ".repeat(width)}  ${colors.yellow(printable(remedy))}`]),
  ]);
  return [...lines, "", verdict(checks, ok, colors)].join("\n");
}

function verdict(checks: readonly CheckResult[], ok: boolean, colors: Colors): string {
  if (!ok) return colors.red("Something is not as it should be.");
  if (checks.some(({ state }) => state === "warning")) return colors.yellow("Everything serves, but not all is well.");
  return colors.green("All is well.");
}
