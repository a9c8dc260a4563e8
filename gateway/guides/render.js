import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Marked, Renderer } from "marked";
import { getHeadingList, gfmHeadingId } from "marked-gfm-heading-id";

const STYLE = readFileSync(join(import.meta.dirname, "style.css"), "utf8").replaceAll(/\s+/g, " ");

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/**
 * Renders a page with the anchors that GitHub gives its headings. What is wider than the page scrolls by itself, also by the keyboard.
 *
 * @param {string} text Markdown
 * @param {{ navigation: { href: string, name: string, isCurrent: boolean }[], summary: string, markdown: string, reference: string }} about
 *   `markdown` and `reference`: addresses of its source and of the API's reference
 */
export function pageHtml(text, { navigation, summary, markdown, reference }) {
  const marked = new Marked(gfmHeadingId(), {
    renderer: {
      code: ({ text: code }) => `<pre tabindex="0"><code>${escaped(code)}\n</code></pre>\n`,
      table(token) {
        return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
      },
    },
  });
  const html = /** @type {string} */ (marked.parse(text));
  const headings = getHeadingList().map(({ level, text: heading, id }) => ({ level, id, text: heading.replaceAll(/<\/?a\b[^>]*>/g, "") }));
  const items = navigation.map(
    ({ href, name, isCurrent }) => `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ""}>${name}</a></li>`,
  );
  const contents = headings
    .filter(({ level }) => level === 2 || level === 3)
    .map(({ level, text: heading, id }) => `<li class="level-${level}"><a href="#${id}">${heading}</a></li>`);
  const list = `<ul>${contents.join("")}</ul>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escaped(summary)}">
<title>${headings[0]?.text} · Brand Records</title>
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${markdown}">
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
