import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** What a code span starts with if it is a command, such as `brandctl deliveries show` or `npm start`. */
const PROGRAMS =
  /^(?:npm|npx|brandctl|brand-records|docker|claude|psql|curl|node|buf|cd|cp|bash) \S|^(?:scripts|deploy|\.ci)\/\S*(?:\.sh|\.js|run)\b/;

/**
 * Finds every command of a page, in page order and without duplicates: in shell blocks, in blocks without a language, and in
 * the text. A command has no comment and is one line, unless one of its arguments spans several. scripts/newcomer.js uses
 * this too.
 *
 * @param {string} page a path
 * @returns {string[]}
 */
export function findCommands(page) {
  const text = readFileSync(page, "utf8");
  const fence = /^ *```(\w*)\n(.*?)^ *```$/gms;
  const inBlocks = [...text.matchAll(fence)].flatMap(([, language = "", block = ""]) => {
    if (language === "sh") return commandsOf(block);
    return language === "" ? block.split("\n").map(withoutComment).filter(isCommand) : [];
  });
  const inText = text
    .replaceAll(fence, "")
    .split(/\n\s*\n/)
    .flatMap((paragraph) => [...paragraph.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll(/\s+/g, " ")))
    .filter(isCommand);
  return [...new Set([...inBlocks, ...inText])];
}

/** @param {string} text */
const isCommand = (text) => PROGRAMS.test(text);

/** @param {string} line */
const withoutComment = (line) => line.replace(/(^|\s+)# .*$/, "").trim();

/**
 * Joins the lines of a command: bash decides where one is complete.
 *
 * @param {string} block
 */
function commandsOf(block) {
  /** @type {string[]} */
  const commands = [];
  let command = "";
  for (const line of block.split("\n").map(withoutComment)) {
    if (command === "" && line === "") continue;
    command = command.endsWith("\\") ? `${command.slice(0, -1)}${line}` : `${command}${command === "" ? "" : "\n"}${line}`;
    if (command.endsWith("\\") || !isComplete(command)) continue;
    commands.push(command);
    command = "";
  }
  if (command !== "") throw new Error(`This command is incomplete:\n${command}`);
  return commands;
}

/** @param {string} command */
function isComplete(command) {
  try {
    execFileSync("bash", ["-n", "-c", command], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
