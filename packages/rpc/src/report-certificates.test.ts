import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMetrics, type Registry } from "@brand-records/telemetry";
import { CertificateAuthority, eventually } from "@brand-records/testkit";
import { pino } from "pino";
import { Certificates } from "./certificates.ts";
import { reportCertificates } from "./report-certificates.ts";

const DAY_SECONDS = 86_400;
const POLL_MS = 20;
const folder = mkdtempSync(join(tmpdir(), "certificates-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = (name: string): string => join(folder, name);
const oldAuthority = new CertificateAuthority(folder, "old", 1);
const newAuthority = new CertificateAuthority(folder, "new", 30);
const config = { RPC_TLS_CERT: file("cert.pem"), RPC_TLS_KEY: file("key.pem"), RPC_TLS_CA: file("ca.pem") };
const RECORDS = "URI:spiffe://test/ns/here/sa/records";

let lines: Record<string, unknown>[];
let metrics: Registry;
let opened: { stop(): void }[];
beforeEach(() => {
  lines = [];
  opened = [];
  metrics = openMetrics("test");
  install(7);
});
afterEach(() => {
  for (const each of opened) each.stop();
});

const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) });

function install(days: number, names: string[] = [RECORDS]): void {
  const { cert, key } = newAuthority.issue(`leaf-${days}`, { names, days });
  copyFileSync(cert, config.RPC_TLS_CERT);
  copyFileSync(key, config.RPC_TLS_KEY);
  writeFileSync(config.RPC_TLS_CA, oldAuthority.pem() + newAuthority.pem());
}

/** Polls often, which only the first user of the files decides. */
function report(settings: Record<string, string> = config): Certificates {
  const certificates = Certificates.of(settings, POLL_MS) as Certificates;
  opened.push(reportCertificates(settings, metrics, log), { stop: () => certificates.release() });
  return certificates;
}

async function daysOf(certificate: string): Promise<number> {
  const pattern = new RegExp(`^tls_certificate_expiry_timestamp_seconds\\{certificate="${certificate}".*\\} (\\S+)$`, "m");
  const [, value] = pattern.exec(await metrics.metrics()) ?? [];
  return Math.round((Number(value) - Date.now() / 1_000) / DAY_SECONDS);
}

const areRefused = async (): Promise<string | undefined> =>
  /^tls_certificate_files_refused\{.*\} (\d)$/m.exec(await metrics.metrics())?.[1];

it("shows when the leaf expires and the authority that issued it, among those of the file", async () => {
  report();
  expect([await daysOf("leaf"), await daysOf("authority")]).toEqual([7, 30]);
});

it("follows the files", async () => {
  report();
  install(9);
  await eventually(async () => expect(await daysOf("leaf")).toBe(9));
  expect(lines.at(-1)).toMatchObject({ msg: "certificates replaced", service: "records" });
});

it("keeps the last good pair while the files do not fit each other, and logs each problem once", async () => {
  const certificates = report();
  const good = certificates.current;
  expect(await areRefused()).toBe("0");
  copyFileSync(newAuthority.issue("other", { names: [] }).key, config.RPC_TLS_KEY);
  await eventually(() => expect(lines.at(-1)).toMatchObject({ problem: "RPC_TLS_KEY: is not the key of the certificate in RPC_TLS_CERT" }));
  rmSync(config.RPC_TLS_CA);
  await eventually(() => expect(lines.at(-1)).toMatchObject({ problem: `RPC_TLS_CA: ${config.RPC_TLS_CA} cannot be read (ENOENT)` }));
  expect(certificates.current).toBe(good);
  expect(lines.filter(({ problem }) => problem !== undefined)).toHaveLength(2);
  expect(await areRefused()).toBe("1");
  install(11);
  await eventually(async () => expect([await daysOf("leaf"), await areRefused()]).toEqual([11, "0"]));
});

it("shows and logs a replacement that has lost the id", async () => {
  report();
  install(9, []);
  await eventually(async () => expect(await areRefused()).toBe("1"));
  expect(await daysOf("leaf")).toBe(7);
  expect(lines).toEqual([
    expect.objectContaining({
      msg: "certificate files refused, the last good ones remain in use",
      problem: "RPC_TLS_CERT: the certificate (no names) is not of spiffe://test/ns/here/sa/records, as this process is until it ends",
    }),
  ]);
});

it.each([
  ["RPC_TLS_CERT", "no certificate", "RPC_TLS_CERT: the file holds no certificate in PEM form"],
  ["RPC_TLS_CA", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "RPC_TLS_CA: the file holds no certificate in PEM form"],
  ["RPC_TLS_KEY", "", "RPC_TLS_KEY: the file holds no private key without a passphrase"],
] as const)("refuses at the start a wrong file of %s", (name, content, problem) => {
  writeFileSync(config[name], content);
  expect(() => Certificates.of(config)).toThrow(expect.objectContaining({ name: "ConfigError", problems: [problem] }));
});

it("shows nothing without TLS", async () => {
  reportCertificates({}, metrics, log);
  expect(await metrics.metrics()).not.toContain("tls_certificate");
});
