import { readFileSync } from "node:fs";
import { dirname, join, matchesGlob, normalize } from "node:path";
import { findPages, repositoryFiles } from "./pages.ts";
import { readMarkdown, type Markdown } from "./read-markdown.ts";

/** One promise: every link and every repository path in the documentation leads somewhere. */

const files = repositoryFiles();
const folders = new Set(files.flatMap(foldersOf));
const pages = new Map(files.filter((path) => path.endsWith(".md")).map((path) => [path, readMarkdown(readFileSync(path, "utf8"))]));

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** A code span that is a path from the root, perhaps with `*` for some name, `{a,b}`, or `X` for every folder there is. */
const REPOSITORY_PATH = /^(?:services|packages|gateway|proto|test|docs|deploy|scripts|examples|\.ci)\/[\w./*{},@-]*$/;

const withoutSlash = (path: string): string => path.replace(/\/$/, "");

function exists(path: string): boolean {
  const wanted = withoutSlash(path);
  if (folders.has(wanted) || files.includes(wanted)) return true;
  const [, parent, rest] = /^(.+?)\/X(\/.+)?$/.exec(wanted) ?? [];
  if (parent !== undefined) {
    const each = [...folders].filter((folder) => dirname(folder) === parent);
    return each.length > 0 && each.every((folder) => exists(`${folder}${rest ?? ""}`));
  }
  return /[*{]/.test(wanted) && [...files, ...folders].some((path) => matchesGlob(path, wanted));
}

/** Returns what is wrong with a page's link; undefined if its target exists. */
function problemOf(page: string, link: string, markdown: Markdown): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined;
  const [path = "", anchor] = decodeURI(link).split("#");
  const target = withoutSlash(normalize(join(dirname(page), path)));
  if (path !== "" && !exists(target)) return "no such file";
  if (anchor === undefined) return undefined;
  const { anchors } = path === "" ? markdown : (pages.get(target) ?? { anchors: new Set<string>() });
  return anchors.has(anchor) ? undefined : "no such heading";
}

function problemsOf(page: string, markdown: Markdown): string[] {
  const ofLinks = markdown.links.flatMap(({ line, text }) => {
    const problem = problemOf(page, text, markdown);
    return problem === undefined ? [] : [`${page}:${line}: ${text}: ${problem}`];
  });
  const ofPaths = markdown.codeSpans
    .filter(({ text }) => REPOSITORY_PATH.test(text) && !exists(text))
    .map(({ line, text }) => `${page}:${line}: ${text}: no such path`);
  return [...ofLinks, ...ofPaths];
}

it.each(findPages())("every link and path of %s exists", (page) => {
  expect(problemsOf(page, pages.get(page) as Markdown)).toEqual([]);
});

it("finds a link, a heading and a path that do not exist, with their lines", () => {
  const text = [
    "# One heading: `code`, and more",
    "",
    "[A page](missing.md), [a heading](#two), [this one](#one-heading-code-and-more), [the web](https://example.com/x), `[no](link.md)`.",
    "",
    "```sh",
    "[not](a-link.md) `services/nowhere`",
    "```",
    "",
    "A span over `two",
    "lines`, `services/nowhere/x.ts`, `services/X/migrations`, `services/X/src/outbox`, `services/*/src/{rpc,storage}` and `docs/contributing.md`.",
  ].join("\n");
  expect(problemsOf("docs/example.md", readMarkdown(text))).toEqual([
    "docs/example.md:3: missing.md: no such file",
    "docs/example.md:3: #two: no such heading",
    "docs/example.md:10: services/nowhere/x.ts: no such path",
    "docs/example.md:10: services/X/src/outbox: no such path",
  ]);
});
