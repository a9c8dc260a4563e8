// Renders the guides for integrators, which the gateway serves under /docs, into gateway/dist/guides.json. `npm start` and `npm run build` run it.
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { pageHtml } from "./render.js";

const ROOT = join(import.meta.dirname, "../..");
const TARGET = join(ROOT, "gateway/dist/guides.json");

/**
 * The guides, in the order of the navigation: their path below /docs, what the navigation calls them, their source, and what they are about,
 * as llms.txt and search engines have it.
 */
const GUIDES = /** @type {const} */ ([
  ["api", "API", "docs/api.md", "The first page, whole lists, filters, campaign plans, values, keys and the limit."],
  ["errors", "Errors", "docs/errors.md", "Every error code: its status, when it comes, and what to do."],
  ["syncing", "Syncing", "docs/syncing.md", "A copy of a brand's records that stays current: a walk each night, events in between."],
  ["webhooks", "Webhooks", "docs/webhooks.md", "Signed events: what arrives, verifying, responding, attempts, rotation, replays."],
  ["assistants", "Assistants", "docs/assistants.md", "AI assistants over the Model Context Protocol: clients, tools, errors, versions."],
  ["command-line", "Command line", "docs/command-line.md", "Lists, exports, copies, plans, signed events and proved receivers."],
  ["clients", "Client", "clients/client/README.md", "@brand-records/client for JavaScript and TypeScript: lists, plans, events, a copy."],
  ["python", "Python", "clients/python/README.md", "brand-records for Python: lists, plans, verified events, a copy in SQLite."],
]);

/** What only readers of the repository can do. */
const REPOSITORY = /<!-- repository -->[^]*?<!-- \/repository -->\n*/g;
/** The parts of Markdown that links cannot be in, or a link. */
const LINK = /(^```[^]*?^```$|`[^`\n]+`)|\[((?:`[^`]*`|[^\]`])*)\]\(([^\s)]+)\)/gm;

/** What is served: paths below /docs by source. Pages add the examples that they link to. @type {Map<string, string>} */
const served = new Map(GUIDES.map(([path, , source]) => [source, path]));
/** @type {{ path: string, type: string, content: string }[]} */
const files = [{ path: "/llms.txt", type: "text/plain; charset=utf-8", content: llmsText() }];

for (const [source, path] of served) files.push(...filesOf(source, path));
mkdirSync(dirname(TARGET), { recursive: true });
writeFileSync(`${TARGET}.${process.pid}`, JSON.stringify(files));
renameSync(`${TARGET}.${process.pid}`, TARGET);

/** @param {string} source @param {string} path below /docs */
function filesOf(source, path) {
  const text = readFileSync(join(ROOT, source), "utf8");
  if (!source.endsWith(".md")) return [{ path: `/docs/${path}`, type: "text/plain; charset=utf-8", content: text }];
  const markdown = text.replaceAll(REPOSITORY, "");
  if (markdown.includes("repository -->")) throw new Error(`${source}: a marker is not closed`);
  const navigation = GUIDES.map(([guide, name]) => ({ href: relativeUrl(path, guide), name, isCurrent: guide === path }));
  const html = pageHtml(withLinks(markdown, source, path, ""), {
    navigation,
    summary: GUIDES.find(([guide]) => guide === path)?.[3] ?? `Example: ${path}`,
    markdown: `${path.split("/").at(-1)}.md`,
    reference: `${"../".repeat(path.split("/").length)}docs`,
  });
  return [
    { path: `/docs/${path}`, type: "text/html; charset=utf-8", content: html },
    { path: `/docs/${path}.md`, type: "text/markdown; charset=utf-8", content: withLinks(markdown, source, path, ".md") },
  ];
}

/**
 * Returns a page's Markdown with its links as they are served.
 *
 * @param {string} markdown
 * @param {string} source
 * @param {string} path of the page
 * @param {"" | ".md"} form of the pages that links lead to
 */
function withLinks(markdown, source, path, form) {
  return markdown.replaceAll(LINK, (all, code, label, href) => {
    if (code !== undefined) return all;
    const url = urlOf(href, source, path, form);
    return url === undefined ? label : `[${label}](${url})`;
  });
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

${GUIDES.map(([path, name, , about]) => `- [${name}](https://records.example/docs/${path}.md): ${about}`).join("\n")}

## Reference

- [OpenAPI 3.1](https://records.example/openapi/service.yaml): every operation, error and event; also as [JSON](https://records.example/openapi/service.json)
- [Model Context Protocol](https://records.example/api/mcp): POST, with \`Authorization: Bearer KEY\`; the guide for assistants says how to connect
`;
}
