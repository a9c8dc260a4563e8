import { EventEmitter } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { openTerminal } from "./terminal.ts";

function startOn(isTTY: boolean): string {
  let output = "";
  const out = Object.assign(new EventEmitter(), { isTTY, write: (text: string) => ((output += text), true) });
  const terminal = openTerminal(out as unknown as NodeJS.WriteStream);
  terminal.step("Making demo data", "12 campaigns");
  terminal.step("Making demo data", "90 submissions");
  terminal.say("Running");
  return output;
}

it("outlives a reader that has left, as a closed terminal does", () => {
  const out = Object.assign(new EventEmitter(), { isTTY: false, write: () => true });
  openTerminal(out as unknown as NodeJS.WriteStream);
  // Without a listener, emitting an error throws it.
  expect(() => out.emit("error", new Error("write EPIPE"))).not.toThrow();
});

it("a log has one line for a step, without its details", () => {
  expect(startOn(false)).toBe("Making demo data\nRunning\n");
});

it("a terminal shows the details of a step in one line", () => {
  const shown = stripVTControlCharacters(startOn(true));
  expect(shown).toMatch(/^ *Making demo data: 12 campaigns …\r *Making demo data: 90 submissions …\rRunning\n$/);
});
