import { readFileSync } from "node:fs";

/**
 * The commands of a page's shell blocks. The function that is returned finds the one that begins and ends as given, without
 * its comment.
 *
 * @param replacements texts in the commands, by what stands in the page
 */
export function readCommands(page, replacements) {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block);
  const commands = blocks
    .flatMap((block) => block.replaceAll("\\\n", "").split("\n"))
    .map((line) => line.replace(/\s+# .*/, ""))
    .map((line) => Object.entries(replacements).reduce((text, [from, to]) => text.replaceAll(from, to), line));
  return (start, part = "") => {
    const found = commands.find((command) => command.startsWith(start) && command.includes(part));
    if (found === undefined) throw new Error(`${page} has no command ${start}${part && ` … ${part}`}`);
    return found;
  };
}
