import { execFile } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

/** One promise: a finding of npm's audit service fails npm run check; a service that does not respond as it should is a warning. */

const run = promisify(execFile);

/** Runs the audit with a service of this test. */
async function audit(listener: RequestListener): Promise<{ code: number; stderr: string }> {
  const service = createServer(listener);
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const npm_config_registry = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], npm_config_registry };
  try {
    const { stderr } = await run(process.execPath, ["scripts/supply-chain/audit.js"], { env });
    return { code: 0, stderr };
  } catch (error) {
    return error as { code: number; stderr: string };
  } finally {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  }
}

it("fails, with the advisory", async () => {
  const url = "https://github.com/advisories/GHSA-aaaa-bbbb-cccc";
  const advisory = { id: 1, url, title: "Made up", severity: "critical", vulnerable_versions: "<=99.0.0" };
  // npm also asks for the packages that depend on what is found.
  const found = await audit(({ method }, response) => {
    response.writeHead(method === "POST" ? 200 : 404).end(JSON.stringify(method === "POST" ? { ms: [advisory] } : {}));
  });
  expect(found).toMatchObject({ code: 1, stderr: expect.stringContaining(`ms <=99.0.0: critical: Made up (${url})`) });
});

it("warns without the service", async () => {
  const refused = await audit((_, response) => void response.writeHead(405).end("{}"));
  expect(refused).toEqual({ code: 0, stderr: expect.stringContaining("warning: not audited, as the audit service cannot be reached") });
});
