import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installedRuntime, NODE } from "./clients/installed-runtime.ts";
import { runTool } from "./clients/run-tool.ts";
import { ensureBackingServices } from "./setup/ensure-backing-services.ts";

export interface LighthouseReport {
  /** From 0 to 1; null if nothing could be judged. */
  readonly categories: Readonly<Record<string, { readonly score: number | null }>>;
  readonly audits: Readonly<Record<string, { readonly numericValue?: number }>>;
  /** Where the page has led to. */
  readonly finalDisplayedUrl: string;
}

/** Opens a page in a browser of its own, as a phone of middling speed does that has loaded nothing before, and judges it. */
export async function runLighthouse(url: string): Promise<LighthouseReport> {
  const lighthouse = await installedRuntime("lighthouse", "cli/index.js");
  const folder = await mkdtemp(join(tmpdir(), "lighthouse-"));
  try {
    const report = join(folder, "report.json");
    const options = ["--quiet", "--output=json", `--output-path=${report}`, "--chrome-flags=--headless --no-sandbox --disable-gpu"];
    const env = { CHROME_PATH: (await ensureBackingServices("chromium")).get("CHROMIUM") ?? "" };
    await runTool(NODE, [lighthouse, url, ...options], { cwd: folder, env });
    return JSON.parse(await readFile(report, "utf8")) as LighthouseReport;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Forwards to a console with the cookie of a session: Lighthouse's browser begins without one, and takes a header of this name for those
 * requests alone that have no cookie of the page's own.
 */
export async function startSignedIn(url: string, cookie: string): Promise<{ readonly url: string; stop(): void }> {
  const { host } = new URL(url);
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, host, cookie };
    const outgoing = request(new URL(incoming.url ?? "/", url), { method: incoming.method ?? "GET", headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, stop: () => void server.close() };
}
