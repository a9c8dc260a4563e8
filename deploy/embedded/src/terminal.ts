import pc from "picocolors";
import type { Terminal } from "./launch.ts";

/** Steps overwrite each other on a terminal, and are a line each in a log. */
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
