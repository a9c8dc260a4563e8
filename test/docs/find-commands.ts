import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A command that a page names, without its comment, on one line unless it holds a text of several. */
export interface DocumentedCommand {
  readonly page: string;
  readonly command: string;
}

/** What a code span begins with if it is a command. A page speaks of `brandctl deliveries show` and of `npm start`. */
const PROGRAMS = /^(?:npm|npx|brandctl|docker|claude|psql|curl|node|buf|cd|cp|bash) \S|^(?:scripts|deploy|\.ci)\/\S*(?:\.sh|\.js|run)\b/;

/** The README, everything in docs/, and the READMEs of the examples. */
export function findPages(): string[] {
  const inFolder = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join(folder, name))
      .toSorted();
  return ["README.md", ...inFolder("docs"), ...inFolder("examples")];
}

/** Every command of a page, in its order, each once: of the shell blocks, of blocks without a language, and of the text. */
export function findCommands(page: string): DocumentedCommand[] {
  const text = readFileSync(page, "utf8");
  const fence = /^ *```(\w*)\n(.*?)^ *```$/gms;
  const inBlocks = [...text.matchAll(fence)].flatMap(([, language = "", block = ""]) => {
    if (language === "sh") return commandsIn(block);
    return language === "" ? block.split("\n").map(withoutComment).filter(isCommand) : [];
  });
  const inText = text
    .replaceAll(fence, "")
    .split(/\n\s*\n/)
    .flatMap((paragraph) => [...paragraph.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " ")))
    .filter(isCommand);
  return [...new Set([...inBlocks, ...inText])].map((command) => ({ page, command }));
}

const isCommand = (text: string): boolean => PROGRAMS.test(text);

const withoutComment = (line: string): string => line.replace(/(^|\s+)# .*$/, "").trim();

/** Lines that belong together are one command: bash tells where one is complete. */
function commandsIn(block: string): string[] {
  const commands: string[] = [];
  let command = "";
  for (const line of block.split("\n").map(withoutComment)) {
    if (command === "" && line === "") continue;
    command = command.endsWith("\\") ? `${command.slice(0, -1)}${line}` : `${command}${command === "" ? "" : "\n"}${line}`;
    if (command.endsWith("\\") || !isComplete(command)) continue;
    commands.push(command);
    command = "";
  }
  if (command !== "") throw new Error(`This is no complete command:\n${command}`);
  return commands;
}

function isComplete(command: string): boolean {
  try {
    execFileSync("bash", ["-n", "-c", command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
