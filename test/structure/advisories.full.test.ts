import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";

/** One promise: a finding of npm's audit service fails npm run check. supply-chain.test.ts has the rules. */

const run = promisify(execFile);

it("fails the check, with the advisory", async () => {
  const advisory = {
    id: 1,
    url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
    title: "Made up",
    severity: "critical",
    vulnerable_versions: "<=99.0.0",
  };
  // npm also asks for the packages that depend on what is found.
  const service = createServer((request, response) => {
    response.writeHead(request.method === "POST" ? 200 : 404).end(JSON.stringify(request.method === "POST" ? { ms: [advisory] } : {}));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const npm_config_registry = `http://127.0.0.1:${(service.address() as AddressInfo).port}/`;
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], npm_config_registry };
  try {
    await expect(run(process.execPath, ["scripts/supply-chain/audit.js"], { env })).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ms <=99.0.0: critical: Made up (https://github.com/advisories/GHSA-aaaa-bbbb-cccc)"),
    });
  } finally {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  }
});
