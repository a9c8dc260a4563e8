import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AccountsServiceService } from "@brand-records/proto/accounts/v1";
import { serveRpc, service, type RpcServer } from "@brand-records/rpc";
import { openLog, Registry } from "@brand-records/telemetry";
import { CertificateAuthority, eventually } from "@brand-records/testkit";
import { brandctl, type Outcome } from "../../test/test-terminal.ts";

/** What a person sees whose certificate a service refuses. */

const PREFIX = "spiffe://records.example/ns/live/sa/";

/** Which certificates may call is the server's; what a call then does is not asked here. */
const SERVICES = [service(AccountsServiceService, { listBrands: async () => ({ brands: [], next_after_id: null }) } as never)];

let folder: string;
let authority: CertificateAuthority;
let server: RpcServer;

const issue = (name: string, uri: string | undefined) =>
  authority.issue(name, { names: ["DNS:localhost", ...(uri === undefined ? [] : [`URI:${uri}`])] });

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "brandctl-tls-"));
  authority = new CertificateAuthority(folder);
  const { cert, key, ca } = issue("accounts", `${PREFIX}accounts`);
  const config = { RPC_HOST: "127.0.0.1", RPC_PORT: 0, RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca };
  server = await serveRpc({ config, services: SERVICES, log: openLog("test", "silent"), metrics: new Registry() });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

function listWith(name: string, uri: string | undefined, line = "brands list --json"): Promise<Outcome> {
  const { cert, key, ca } = issue(name, uri);
  const tls = { RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca };
  const env = { ACCOUNTS_ADDRESS: `localhost:${server.port}`, ...tls };
  return brandctl(line.split(" "), { env });
}

it("serves the operator's", async () => {
  expect(await listWith("operator", `${PREFIX}operator`)).toMatchObject({ code: 0, stderr: "" });
});

it("makes no call with one that has no identity", async () => {
  const { code, stderr } = await listWith("shared", undefined);
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "invalid_settings", message: expect.stringContaining("needs one id") } });
});

it("names the file, its identity and the settings for that of another process", async () => {
  const { code, stderr } = await listWith("records", `${PREFIX}records`);
  expect(code).toBe(1);
  const { error } = JSON.parse(stderr) as { error: { code: string; message: string; hint: string } };
  expect(error.code).toBe("certificate_refused");
  expect(error.message).toContain(
    `refuses the certificate ${join(folder, "test", "records.pem")}, which is \`records\` (${PREFIX}records)`,
  );
  expect(error.message).toContain("brandctl needs that of `operator`");
  expect(error.hint).toContain("RPC_TLS_CERT and RPC_TLS_KEY, or --tls-cert and --tls-key");
});

it("does not connect with that of another installation's operator, and names both", async () => {
  // Again while grpc-js has forgotten why the connection failed, as it does when it looks the name up before the call learns of it.
  await eventually(async () => {
    const { stderr } = await listWith("other", "spiffe://other.example/ns/live/sa/operator");
    expect(stderr).toContain(`the certificate of the server is of ${PREFIX}accounts, not of spiffe://other.example/`);
  });
});

it("names the setting where a service without TLS takes no operator's calls", async () => {
  const strict = await serveRpc({
    config: { RPC_HOST: "127.0.0.1", RPC_PORT: 0 },
    services: SERVICES,
    log: openLog("test", "silent"),
    metrics: new Registry(),
  });
  const { code, stderr } = await brandctl(["brands", "list", "--json"], { env: { ACCOUNTS_ADDRESS: `localhost:${strict.port}` } });
  await strict.stop();
  expect(code).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "call_refused", hint: expect.stringContaining("start accounts with RPC_OPERATOR_WITHOUT_TLS=true") },
  });
});

it("says in its help which identity it needs", async () => {
  expect((await brandctl(["--help"], {})).stdout).toMatch(/RPC_TLS_CERT[\s\S]*identity\s+operator/);
});
