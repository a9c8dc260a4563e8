/** The examples below a command's options: what to type, and what it does. */
export function examples(...lines: readonly (readonly [command: string, what: string])[]): string {
  return `\nExamples:\n${lines.map(([command, what]) => `  # ${what}\n  ${command}`).join("\n\n")}\n`;
}
