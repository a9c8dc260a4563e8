import pc from "picocolors";
import type { Terminal } from "./launch.ts";

/** Opens the output: on a terminal each step overwrites the one before; in a log each is a line. */
export function openTerminal(out: NodeJS.WriteStream): Terminal {
  let stepShown = false;
  const clear = (): void => {
    if (stepShown) out.write("\r\u001b[2K");
    stepShown = false;
  };
  return {
    step(text) {
      clear();
      stepShown = out.isTTY;
      out.write(out.isTTY ? `  ${pc.dim(`${text} …`)}` : `${text}\n`);
    },
    say(text) {
      clear();
      out.write(`${text}\n`);
    },
  };
}
