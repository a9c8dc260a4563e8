import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { PAGES } from "@brand-records/console-contract/pages";

/** One promise: what a browser loads for a first page of the console stays small. */

const DIST = join(process.cwd(), "console/web/dist");
/** What a page needs before it shows, and what it may load afterwards, such as a dialog. */
const FIRST_SCRIPT_BYTES_MAX = 165 * 1000;
const SCRIPT_BYTES_MAX = 200 * 1000;
const STYLE_BYTES_MAX = 40 * 1000;
/** With the page itself, its icon and a call right after it: 15 requests. */
const FILES_MAX = 12;

interface Chunk {
  readonly file: string;
  readonly isDynamicEntry?: boolean;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
}

type Manifest = Readonly<Record<string, Chunk>>;

/** The scripts and styles of a chunk and of all that it imports at once. */
function filesOf(manifest: Manifest, name: string, seen = new Set<string>()): string[] {
  if (seen.has(name)) return [];
  seen.add(name);
  const { file, css = [], imports = [] } = manifest[name] as Chunk;
  return [file, ...css, ...imports.flatMap((imported) => filesOf(manifest, imported, seen))];
}

it("every first page takes at most 165 kB of scripts and 40 kB of styles, compressed, in few files", async () => {
  const manifest = JSON.parse(await readFile(join(DIST, "manifest.json"), "utf8")) as Manifest;
  const html = await readFile(join(DIST, "index.html"), "utf8");
  const ofEntry = [...html.matchAll(/"\/console\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file = ""]) => file);
  const screens = Object.keys(manifest).filter((name) => manifest[name]?.isDynamicEntry);
  const first = new Set(Object.values(PAGES).map(({ screen }) => `src/screens/${screen}.tsx`));
  expect([...first].filter((name) => !screens.includes(name))).toEqual([]);
  const tooLarge: string[] = [];
  for (const screen of screens) {
    const files = new Set([...ofEntry, ...filesOf(manifest, screen)]);
    const sizes = await Promise.all([...files].map(async (file) => ({ file, bytes: (await stat(join(DIST, `${file}.gz`))).size })));
    const total = (end: string): number => sizes.filter(({ file }) => file.endsWith(end)).reduce((sum, { bytes }) => sum + bytes, 0);
    const [scripts, styles] = [total(".js"), total(".css")];
    const scriptsMax = first.has(screen) ? FIRST_SCRIPT_BYTES_MAX : SCRIPT_BYTES_MAX;
    const isTooMany = first.has(screen) && files.size > FILES_MAX;
    if (scripts > scriptsMax || styles > STYLE_BYTES_MAX || isTooMany) tooLarge.push(`${screen}: ${scripts} ${styles} ${files.size}`);
  }
  expect(tooLarge).toEqual([]);
});

it("every screen that the router loads is a page, whose frame and scripts the server knows", async () => {
  const router = await readFile(join(process.cwd(), "console/web/src/router.tsx"), "utf8");
  const loaded = [...router.matchAll(/import\("\.\/screens\/([^"]+)\.tsx"\)/g)].map(([, screen]) => screen);
  expect(new Set(loaded)).toEqual(new Set(Object.values(PAGES).map(({ screen }) => screen)));
});
