import { createInterface } from "node:readline/promises";
import { UsageFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/**
 * Asks whoever sits at the terminal before something is done that cannot be undone. Where nobody does, --yes must say it.
 *
 * @param question such as `Delete it?`
 * @returns false for anything but yes
 * @throws UsageFailure when nobody can be asked
 */
export async function confirm({ terminal, json }: Session, question: string): Promise<boolean> {
  const { stdin, stderr, interrupted } = terminal;
  if (json || stdin.isTTY !== true || stderr.isTTY !== true) {
    throw new UsageFailure("This cannot be undone, and there is nobody to ask.", "Add --yes to go on.");
  }
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal: interrupted });
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
