import { stripVTControlCharacters } from "node:util";
import { openTerminal } from "./terminal.ts";

function startOn(isTTY: boolean): string {
  let output = "";
  const terminal = openTerminal({ isTTY, write: (text: string) => ((output += text), true) });
  terminal.step("Making demo data", "12 campaigns");
  terminal.step("Making demo data", "90 submissions");
  terminal.say("Running");
  return output;
}

it("a log has one line for a step, without its details", () => {
  expect(startOn(false)).toBe("Making demo data\nRunning\n");
});

it("a terminal shows the details of a step in one line", () => {
  const shown = stripVTControlCharacters(startOn(true));
  expect(shown).toMatch(/^ *Making demo data: 12 campaigns …\r *Making demo data: 90 submissions …\rRunning\n$/);
});
