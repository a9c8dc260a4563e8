// Renders the guides for integrators, which the gateway serves under /docs, into gateway/dist/guides.json. `npm start` and `npm run build` run it.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { pageHtml, readPage } from "./render.js";

const ROOT = join(import.meta.dirname, "../..");
const TARGET = join(ROOT, "gateway/dist/guides.json");

/** The guides, in the order of the navigation: their path below /docs, what the navigation calls them, and their source. */
const GUIDES = /** @type {const} */ ([
  ["api", "API", "docs/api.md"],
  ["errors", "Errors", "docs/errors.md"],
  ["syncing", "Syncing", "docs/syncing.md"],
  ["webhooks", "Webhooks", "docs/webhooks.md"],
  ["assistants", "Assistants", "docs/assistants.md"],
  ["command-line", "Command line", "docs/command-line.md"],
  ["clients", "Client", "clients/client/README.md"],
]);

/** What only readers of the repository can do. */
const REPOSITORY = /<!-- repository -->[^]*?<!-- \/repository -->\n*/g;
/** The parts of Markdown that links cannot be in, or a link. */
const LINK = /(^```[^]*?^```$|`[^`\n]+`)|\[((?:`[^`]*`|[^\]`])*)\]\(([^\s)]+)\)/gm;

/**
 * What is served: the guides, and the examples that pages link to.
 *
 * @type {Map<string, string>} paths below /docs by source
 */
const served = new Map(GUIDES.map(([path, , source]) => [source, path]));
/** @type {{ path: string, type: string, content: string }[]} */
const files = [];
/** The guides, as llms.txt lists them. @type {string[]} */
const listed = [];

// Links add examples while pages are read.
for (const [source, path] of served) files.push(...filesOf(source, path));
files.push({ path: "/llms.txt", type: "text/plain; charset=utf-8", content: llmsText() });
mkdirSync(dirname(TARGET), { recursive: true });
writeFileSync(`${TARGET}.${process.pid}`, JSON.stringify(files));
renameSync(`${TARGET}.${process.pid}`, TARGET);

/** @param {string} source @param {string} path below /docs */
function filesOf(source, path) {
  const text = readFileSync(join(ROOT, source), "utf8");
  if (!source.endsWith(".md")) return [{ path: `/docs/${path}`, type: "text/plain; charset=utf-8", content: text }];
  const markdown = text.replaceAll(REPOSITORY, "") + (source.startsWith("examples/") ? filesBeside(source) : "");
  const page = readPage(markdown, (href) => urlOf(href, source, path, ""));
  if (!path.startsWith("examples/")) listed.push(`- [${page.title}](https://records.example/docs/${path}.md): ${page.summary}`);
  const navigation = GUIDES.map(([guide, name]) => ({ href: relativeUrl(path, guide), name, isCurrent: guide === path }));
  const plain = markdown.replaceAll(LINK, (all, code, label, href) => {
    if (code !== undefined) return all;
    const url = urlOf(href, source, path, ".md");
    return url === undefined ? label : `[${label}](${url})`;
  });
  return [
    {
      path: `/docs/${path}`,
      type: "text/html; charset=utf-8",
      content: pageHtml(page, {
        navigation,
        markdown: `${path.split("/").at(-1)}.md`,
        reference: `${"../".repeat(path.split("/").length)}docs`,
      }),
    },
    { path: `/docs/${path}.md`, type: "text/markdown; charset=utf-8", content: plain },
  ];
}

/**
 * Lists what an example consists of: who reads it here has nothing else of it.
 *
 * @param {string} source its README.md
 */
function filesBeside(source) {
  const files = readdirSync(join(ROOT, dirname(source)), { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((file) => file.isFile() && !file.parentPath.includes("node_modules") && !/^(\.|README)/.test(file.name))
    .map((file) => relative(join(ROOT, dirname(source)), join(file.parentPath, file.name)));
  return `\n## Files\n\n${files
    .toSorted()
    .map((file) => `- [${file}](${file})`)
    .join("\n")}\n`;
}

/**
 * Returns where a link leads from a served page; undefined if to a page that is for operators, and not served.
 *
 * @param {string} href as in the source
 * @param {string} source
 * @param {string} path of the page
 * @param {"" | ".md"} form of the pages that it leads to
 * @throws {Error} if it leads nowhere
 */
function urlOf(href, source, path, form) {
  if (/^[a-z]+:|^#/.test(href)) return href;
  const [file = "", anchor] = href.split("#");
  let target = normalize(join(dirname(source), file)).replace(/\/$/, "");
  if (!existsSync(join(ROOT, target))) throw new Error(`${source}: ${href}: no such file`);
  if (statSync(join(ROOT, target)).isDirectory()) target = join(target, "README.md");
  const isExample = target.startsWith("examples/");
  if (isExample && !served.has(target)) served.set(target, target.replace(/\/README\.md$/, ""));
  const found = served.get(target);
  if (found === undefined) return undefined;
  return relativeUrl(path, found + (target.endsWith(".md") ? form : "")) + (anchor === undefined ? "" : `#${anchor}`);
}

/** @param {string} from @param {string} to both below /docs */
function relativeUrl(from, to) {
  return relative(dirname(join("/docs", from)), join("/docs", to));
}

/** The form of https://llmstxt.org: what models read first. */
function llmsText() {
  return `# Brand Records

> One brand's records (campaigns, submissions, payouts, deposits, conversions, links), opened to the brand's own integrations: an HTTP API that reads, an endpoint for AI assistants, and signed events. Everything needs a key of the brand.

## Guides

${listed.join("\n")}

## Reference

- [OpenAPI 3.1](https://records.example/openapi/service.yaml): every operation, error and event; also as [JSON](https://records.example/openapi/service.json)
- [Model Context Protocol](https://records.example/api/mcp): POST, with \`Authorization: Bearer KEY\`; the guide for assistants says how to connect
`;
}
