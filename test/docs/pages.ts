import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

/** Lists the repository's files as git sees them: those it keeps, and new ones that it does not ignore. */
export function repositoryFiles(): string[] {
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  return execFileSync("git", options, { encoding: "utf8", maxBuffer: 16 * 1024 * 1024 })
    .split("\0")
    .filter(existsSync);
}

/** Lists the pages that people read: those of the root, of docs/, examples/ and clients/. */
export const findPages = (): string[] =>
  repositoryFiles().filter((path) => path.endsWith(".md") && (!path.includes("/") || /^(?:docs|examples|clients)\//.test(path)));

/** Lists the pages whose commands must work: all but the changelog, which names those of the past too. */
export const findManuals = (): string[] => findPages().filter((path) => path !== "CHANGELOG.md");
