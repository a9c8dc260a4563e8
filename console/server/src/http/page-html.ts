import { PAGES, type ConsolePage, type PageName } from "@brand-records/console-contract/pages";

/** The built page has them; every response replaces them. */
export const NONCE_PLACEHOLDER = "__CSP_NONCE__";
export const FIRST_READS_PLACEHOLDER = "<!--first reads-->";
const PRELOADS_PLACEHOLDER = "<!--preloads-->";
const FRAME_PLACEHOLDER = "<!--frame-->";
const STYLES_PLACEHOLDER = "<!--styles-->";

/** What Vite writes of a chunk. */
export interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

/** Keys are sources, or names of chunks that several sources share. */
export type Manifest = Readonly<Record<string, Chunk>>;

/**
 * Returns the HTML of each page: with its frame and heading, which show before any script runs, and with links to the scripts and styles of
 * its screen, so that the browser asks for all of them at once. Styles follow the frame, which waits for none of them, and come before the
 * page, whose own styles win.
 *
 * @param built what Vite has built from index.html
 * @throws if a placeholder or a screen is missing
 */
export function pagesFrom(built: string, manifest: Manifest): { readonly [Name in PageName]: string } & { readonly other: string } {
  const icon = /<link rel="icon"[^>]*href="([^"]+)"/.exec(built)?.[1];
  if (icon === undefined) throw new Error("the built page has no icon");
  const styles = built.match(/<link rel="stylesheet"[^>]*>/g) ?? [];
  const bare = styles.reduce((html, style) => html.replace(style, ""), built);
  const fill = (values: Readonly<Record<string, string>>): string =>
    Object.entries(values).reduce((html, [placeholder, value]) => {
      if (!html.includes(placeholder)) throw new Error(`the built page has no ${placeholder}`);
      return html.replace(placeholder, () => value);
    }, bare);
  const of = (page: ConsolePage): string => {
    const { scripts, sheets } = filesOf(manifest, `src/screens/${page.screen}.tsx`);
    const isIn = (file: string): boolean => built.includes(`/console/${file}"`);
    return fill({
      [PRELOADS_PLACEHOLDER]: scripts
        .filter((file) => !isIn(file))
        .map((file) => `<link rel="modulepreload" crossorigin href="/console/${file}">`)
        .join(""),
      [FRAME_PLACEHOLDER]: frameOf(page, icon),
      [STYLES_PLACEHOLDER]: [
        ...styles,
        ...sheets.filter((file) => !isIn(file)).map((file) => `<link rel="stylesheet" crossorigin href="/console/${file}">`),
      ].join(""),
    });
  };
  const other = fill({ [PRELOADS_PLACEHOLDER]: "", [FRAME_PLACEHOLDER]: "", [STYLES_PLACEHOLDER]: styles.join("") });
  const pages = Object.fromEntries(Object.entries(PAGES).map(([name, page]) => [name, of(page)])) as Record<PageName, string>;
  return { ...pages, other };
}

/** The files of a chunk and of all that it imports at once. */
function filesOf(manifest: Manifest, name: string): { readonly scripts: readonly string[]; readonly sheets: readonly string[] } {
  const [scripts, sheets, seen] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const add = (key: string): void => {
    if (seen.has(key)) return;
    seen.add(key);
    const chunk = manifest[key];
    if (chunk === undefined) throw new Error(`the build has no ${key}`);
    for (const imported of chunk.imports ?? []) add(imported);
    scripts.add(chunk.file);
    for (const sheet of chunk.css ?? []) sheets.add(sheet);
  };
  add(name);
  return { scripts: [...scripts], sheets: [...sheets] };
}

/** Shows by itself, without a script, if after ten seconds none has replaced the frame. */
const SLOW = `<p class="first-slow">This page takes long to load. If it stays like this, reload it.</p>`;

/** Hidden from screen readers until it says that it is slow: the page that replaces it says the same, and more. */
function frameOf({ path, title, description }: ConsolePage, icon: string): string {
  const text = `<h1>${title}</h1>${description === undefined ? "" : `<p>${description}</p>`}`;
  const logo = `<img src="${icon}" alt="" width="26" height="26">`;
  if (path === "/sign-in") return `<div class="first first-alone"><div aria-hidden="true">${logo}${text}</div>${SLOW}</div>`;
  const frame = `<div class="first-head">${logo}<b>Brand Records</b></div><div class="first-nav"></div><div class="first-main"><div>${text}<i></i><i></i><i></i></div></div>`;
  return `<div class="first"><div aria-hidden="true">${frame}</div>${SLOW}</div>`;
}
