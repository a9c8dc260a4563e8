import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateAuthority, startPostgresServer, type PostgresServer } from "@brand-records/testkit";
import { openPool } from "./pool.ts";

let folder: string;
let ours: CertificateAuthority;
let theirs: CertificateAuthority;
let server: PostgresServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "postgres-tls-"));
  [ours, theirs] = [new CertificateAuthority(folder, "ours"), new CertificateAuthority(folder, "theirs")];
  server = await startPostgresServer();
  const { cert, key } = ours.issue("postgres", { names: ["IP:127.0.0.1"] });
  const superuser = openPool({ url: server.url, max: 1, applicationName: "tests" });
  // The server itself makes it: it accepts a key only of its own user.
  for (const [name, path] of [
    ["server.crt", cert],
    ["server.key", key],
  ] as const) {
    const content = readFileSync(path).toString("base64");
    await superuser.query(`copy (select '${content}') to program 'umask 077; base64 -d > ${name}'`);
  }
  await superuser.query("alter system set ssl = on");
  await superuser.query("select pg_reload_conf()");
  await superuser.stop();
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function connect(authority: CertificateAuthority, host = "127.0.0.1"): Promise<unknown> {
  const url = new URL(server.url);
  url.hostname = host;
  url.search = `sslmode=verify-full&sslrootcert=${authority.ca}`;
  const pool = openPool({ url: url.href, max: 1, applicationName: "tests" });
  try {
    return await pool.query("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  } finally {
    await pool.stop();
  }
}

it("connects over TLS to a server whose certificate the authority of sslrootcert has signed", async () => {
  expect(await connect(ours)).toEqual([{ ssl: true }]);
});

it("refuses a server of another authority, and one with another name, and says why", async () => {
  const reasonOf = (connecting: Promise<unknown>): Promise<string> =>
    connecting.then(String, (error: Error) => `${error.message} ${String(error.cause)}`);
  expect(await reasonOf(connect(theirs))).toMatch(/unable to (verify|get)|self-signed/);
  expect(await reasonOf(connect(ours, "localhost"))).toContain("does not match certificate's altnames");
});
