import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installedRuntime, NODE } from "./clients/installed-runtime.ts";
import { runTool } from "./clients/run-tool.ts";
import { ensureBackingServices } from "./setup/ensure-backing-services.ts";

export interface LighthouseReport {
  /** From 0 to 1; null if nothing could be judged. */
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<Record<string, { readonly numericValue?: number }>>;
}

/** Opens a page in a browser of its own, as a phone of middling speed does that has loaded nothing before, and judges it. */
export async function runLighthouse(url: string, cookie?: string): Promise<LighthouseReport> {
  const lighthouse = await installedRuntime("lighthouse", "cli/index.js");
  const folder = await mkdtemp(join(tmpdir(), "lighthouse-"));
  try {
    const report = join(folder, "report.json");
    const options = ["--quiet", "--output=json", `--output-path=${report}`, "--chrome-flags=--headless --no-sandbox --disable-gpu"];
    const headers = cookie === undefined ? [] : [`--extra-headers=${JSON.stringify({ Cookie: cookie })}`];
    const env = { CHROME_PATH: (await ensureBackingServices("chromium")).get("CHROMIUM") ?? "" };
    await runTool(NODE, [lighthouse, url, ...options, ...headers], { cwd: folder, env });
    return JSON.parse(await readFile(report, "utf8")) as LighthouseReport;
  } finally {
    await rm(folder, { recursive: true });
  }
}
