import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** One promise: what a browser loads for a first page of the console stays small. */

const DIST = join(process.cwd(), "console/web/dist");
const SCRIPT_BYTES_MAX = 200 * 1000;
const STYLE_BYTES_MAX = 40 * 1000;

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
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

it("every first page takes at most 200 kB of scripts and 40 kB of styles, compressed", async () => {
  const manifest = JSON.parse(await readFile(join(DIST, "manifest.json"), "utf8")) as Manifest;
  const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry);
  const screens = Object.keys(manifest).filter((name) => manifest[name]?.isDynamicEntry);
  expect(screens.length).toBeGreaterThan(2);
  const tooLarge: string[] = [];
  for (const screen of screens) {
    const files = new Set([...filesOf(manifest, entry ?? ""), ...filesOf(manifest, screen)]);
    const sizes = await Promise.all([...files].map(async (file) => ({ file, bytes: (await stat(join(DIST, `${file}.gz`))).size })));
    const total = (end: string): number => sizes.filter(({ file }) => file.endsWith(end)).reduce((sum, { bytes }) => sum + bytes, 0);
    if (total(".js") > SCRIPT_BYTES_MAX || total(".css") > STYLE_BYTES_MAX) tooLarge.push(`${screen}: ${total(".js")} ${total(".css")}`);
  }
  expect(tooLarge).toEqual([]);
});
