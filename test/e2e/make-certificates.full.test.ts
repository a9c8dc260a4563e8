import { execFile } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Certificates } from "@brand-records/rpc";

const run = promisify(execFile);

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "make-certificates-"))));
afterEach(() => rmSync(folder, { recursive: true }));

const makeWith = (env: NodeJS.ProcessEnv, ...processes: string[]) =>
  run("deploy/compose/make-certificates.sh", [join(folder, "certificates"), join(folder, "authority"), ...processes], {
    env: { ...process.env, ...env },
  });
const make = (...processes: string[]) => makeWith({}, ...processes);
const path = (process: string, name: string): string => join(folder, "certificates", process, name);
const leafOf = (process: string): X509Certificate => new X509Certificate(readFileSync(path(process, "cert.pem")));

it("makes a certificate for each process with its names, addresses and SPIFFE id, of one authority whose key stays apart", async () => {
  await make("records,records.internal,10.0.0.1,2001:db8::1", "operator");
  expect(leafOf("records").subjectAltName).toBe(
    "DNS:records, DNS:records.internal, IP Address:10.0.0.1, IP Address:2001:DB8:0:0:0:0:0:1, URI:spiffe://brand-records.internal/ns/compose/sa/records",
  );
  for (const process of ["records", "operator"]) {
    const tls = { RPC_TLS_CERT: path(process, "cert.pem"), RPC_TLS_KEY: path(process, "key.pem"), RPC_TLS_CA: path(process, "ca.pem") };
    const certificates = Certificates.of(tls);
    expect(certificates?.own).toEqual({ prefix: "spiffe://brand-records.internal/ns/compose/sa/", service: process });
    certificates?.release();
    expect(leafOf(process).checkIssued(new X509Certificate(readFileSync(join(folder, "authority/ca.pem"))))).toBe(true);
  }
  expect(statSync(join(folder, "authority/key.pem")).mode & 0o077).toBe(0);
  expect(statSync(path("records", "key.pem")).mode & 0o077).toBe(0);
});

it("keeps what is current, and replaces what lacks a name, ends soon or is of another authority", async () => {
  await make("records", "plans");
  const [records, plans] = [leafOf("records"), leafOf("plans")];
  await make("records", "plans,plans.internal");
  expect(leafOf("records").fingerprint256).toBe(records.fingerprint256);
  expect(leafOf("plans").fingerprint256).not.toBe(plans.fingerprint256);
  const authority = (name: string): string => join(folder, "authority", name);
  const request = join(folder, "request.pem");
  await run("openssl", ["req", "-new", "-key", path("records", "key.pem"), "-subj", "/CN=records", "-out", request]);
  const signing = ["-req", "-in", request, "-CA", authority("ca.pem"), "-CAkey", authority("key.pem"), "-days", "29"];
  await run("openssl", ["x509", ...signing, "-out", path("records", "cert.pem")]);
  await make("records");
  expect(leafOf("records").validToDate.getTime()).toBeGreaterThan(Date.now() + 300 * 86_400_000);
  const before = leafOf("records");
  rmSync(join(folder, "authority"), { recursive: true });
  await make("records");
  expect(leafOf("records").fingerprint256).not.toBe(before.fingerprint256);
});

it.each<[string, () => void]>([
  ["a key of another certificate", () => copyFileSync(path("plans", "key.pem"), path("records", "key.pem"))],
  ["another authority", () => writeFileSync(path("records", "ca.pem"), "another")],
  ["no authority", () => rmSync(path("records", "ca.pem"))],
])("repairs what an interrupted renewal leaves beside a certificate: %s", async (_, interrupt) => {
  await make("records", "plans");
  const plans = leafOf("plans");
  interrupt();
  await make("records", "plans");
  expect(leafOf("records").checkPrivateKey(createPrivateKey(readFileSync(path("records", "key.pem"))))).toBe(true);
  expect(readFileSync(path("records", "ca.pem"), "utf8")).toBe(readFileSync(join(folder, "authority/ca.pem"), "utf8"));
  expect(leafOf("plans").fingerprint256).toBe(plans.fingerprint256);
});

it("gives a key to the group of KEY_GROUP, also a current one and at each renewal, in folders that other users reach", async () => {
  const group = process.getgroups?.().at(-1) ?? 0;
  const makeFor = (names: string) => makeWith({ KEY_GROUP: String(group) }, names);
  const expectReadable = () => {
    const { mode, gid } = statSync(path("records", "key.pem"));
    expect([(mode & 0o777).toString(8), gid]).toEqual(["640", group]);
  };
  await make("records");
  const first = leafOf("records");
  await makeFor("records");
  expectReadable();
  expect(leafOf("records").fingerprint256).toBe(first.fingerprint256);
  await makeFor("records,records.internal");
  expectReadable();
  expect(leafOf("records").fingerprint256).not.toBe(first.fingerprint256);
  for (const reached of [join(folder, "certificates"), join(folder, "certificates/records")])
    expect(statSync(reached).mode & 0o005).toBe(0o005);
  expect(statSync(join(folder, "authority")).mode & 0o077).toBe(0);
});

it("refuses a process that does not exist", async () => {
  await expect(make("billing")).rejects.toMatchObject({ code: 78, stderr: expect.stringContaining("billing is not a process") });
});
