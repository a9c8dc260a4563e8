import pc from "picocolors";
import type { Terminal } from "./launch.ts";

/**
 * Opens the output: on a terminal each step overwrites the one before; in a log each is one line, without its details. One that is closed, as
 * by its window or by `head`, loses what is written: it must not end this process with others still running.
 */
export function openTerminal(out: Pick<NodeJS.WriteStream, "isTTY" | "write" | "on">): Terminal {
  out.on("error", () => {});
  let stepShown = false;
  let current = "";
  const clear = (): void => {
    if (stepShown) out.write("\r\u001b[2K");
    stepShown = false;
  };
  return {
    step(text, detail) {
      if (out.isTTY) {
        clear();
        stepShown = true;
        out.write(`  ${pc.dim(`${detail === undefined ? text : `${text}: ${detail}`} …`)}`);
      } else if (text !== current) {
        out.write(`${text}\n`);
      }
      current = text;
    },
    say(text) {
      clear();
      out.write(`${text}\n`);
    },
  };
}
