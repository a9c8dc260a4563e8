import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installedRuntime, NODE } from "../clients/installed-runtime.ts";
import { runTool } from "../clients/run-tool.ts";
import { ensureBackingServices } from "../setup/ensure-backing-services.ts";
import { startOnSharedServices, type SharedStack } from "../stack.ts";

/** One promise: a guide scores 95 or more in each category of Lighthouse. */

const SCORE_MIN = 0.95;
const RUN_MS_MAX = 3 * 60_000;

let stack: SharedStack;
let folder: string;
beforeAll(async () => {
  [stack, folder] = await Promise.all([startOnSharedServices(), mkdtemp(join(tmpdir(), "lighthouse-"))]);
}, RUN_MS_MAX);
afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true });
});

it.each(["api", "errors", "syncing", "webhooks", "assistants", "command-line", "clients", "python"])(
  "%s",
  async (name) => {
    const lighthouse = await installedRuntime("lighthouse", "cli/index.js");
    const report = join(folder, `${name}.json`);
    const options = ["--quiet", "--output=json", `--output-path=${report}`, "--chrome-flags=--headless --no-sandbox --disable-gpu"];
    const env = { CHROME_PATH: (await ensureBackingServices("chromium")).get("CHROMIUM") ?? "" };
    await runTool(NODE, [lighthouse, `${stack.url}/docs/${name}`, ...options], {
      cwd: folder,
      env,
    });
    const { categories } = JSON.parse(await readFile(report, "utf8")) as { categories: Record<string, { score: number | null }> };
    const scores = Object.entries(categories).map(([category, { score }]) => ({ category, isGood: (score ?? 0) >= SCORE_MIN }));
    expect(scores.length).toBeGreaterThanOrEqual(4);
    expect(scores.filter(({ isGood }) => !isGood)).toEqual([]);
  },
  RUN_MS_MAX,
);
