import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked, Renderer } from "marked";
import { getHeadingList, gfmHeadingId } from "marked-gfm-heading-id";

/**
 * @typedef {{ title: string, summary: string, html: string, headings: { level: number, text: string, id: string }[] }} Page
 * @typedef {{ href: string, name: string, isCurrent: boolean }} NavigationItem
 */

const STYLE = readFileSync(join(import.meta.dirname, "style.css"), "utf8").replaceAll(/\s+/g, " ");
const DESCRIPTION_LENGTH_MAX = 160;

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/**
 * Renders a page with the anchors that GitHub gives its headings. What is wider than the page scrolls by itself, also by the keyboard.
 *
 * @param {string} markdown
 * @param {(href: string) => string | undefined} urlOf where a link leads; undefined for none
 * @returns {Page}
 */
export function readPage(markdown, urlOf) {
  const marked = new Marked(gfmHeadingId(), {
    renderer: {
      link({ href, tokens }) {
        const url = urlOf(href);
        const text = this.parser.parseInline(tokens);
        return url === undefined ? text : `<a href="${escaped(url)}">${text}</a>`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}\n</code></pre>\n`,
      table(token) {
        return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
      },
    },
  });
  const html = /** @type {string} */ (marked.parse(markdown));
  const headings = getHeadingList().map(({ level, text, id }) => ({ level, id, text: text.replaceAll(/<\/?a\b[^>]*>/g, "") }));
  const [heading = "", paragraph = ""] = markdown.split("\n\n", 2);
  return { title: heading.replace("# ", ""), summary: firstSentence(paragraph), html, headings };
}

/** @param {string} markdown */
function firstSentence(markdown) {
  const text = markdown
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "")
    .replaceAll(/\s+/g, " ");
  return /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, ".") ?? text;
}

/**
 * @param {Page} page
 * @param {{ navigation: NavigationItem[], markdown: string, reference: string }} about
 *   `markdown` and `reference`: addresses of its source and of the API's reference
 */
export function pageHtml({ title, summary, html, headings }, { navigation, markdown, reference }) {
  const items = navigation.map(
    ({ href, name, isCurrent }) => `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ""}>${name}</a></li>`,
  );
  const contents = headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ level, text, id }) => `<li class="level-${level}"><a href="#${id}">${text}</a></li>`);
  const list = `<ul>${contents.join("")}</ul>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(summary.slice(0, DESCRIPTION_LENGTH_MAX))}">
<title>${escaped(title)} · Brand Records</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header><a class="name" href="${reference}">Brand Records</a><nav aria-label="Guides"><ul>${items.join("")}<li><a href="${reference}">Reference</a></li></ul></nav></header>
<div class="page">
<details class="contents"><summary>On this page</summary><nav aria-label="On this page, folded">${list}</nav></details>
<aside class="contents"><nav aria-label="On this page"><p>On this page</p>${list}</nav></aside>
<main id="content">
${html}<footer><a href="${markdown}">This page as Markdown</a></footer>
</main>
</div>
</body>
</html>
`;
}
