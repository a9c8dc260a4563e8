import { EventEmitter, once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
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

it("outlives a reader that has left, as a closed terminal does", async () => {
  const reader = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(reader, "listening");
  const out = connect((reader.address() as AddressInfo).port, "127.0.0.1");
  const terminal = openTerminal(out as unknown as NodeJS.WriteStream);
  const closed = once(out, "close");
  const writing = setInterval(() => terminal.say("Running"), 1);
  await closed;
  terminal.say("Stopping");
  clearInterval(writing);
  reader.close();
});

it("a log has one line for a step, without its details", () => {
  expect(startOn(false)).toBe("Making demo data\nRunning\n");
});

it("a terminal shows the details of a step in one line", () => {
  const shown = stripVTControlCharacters(startOn(true));
  expect(shown).toMatch(/^ *Making demo data: 12 campaigns …\r *Making demo data: 90 submissions …\rRunning\n$/);
});
