import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { StoredFiles } from "./local-pods.ts";
import type { KubernetesObject } from "./rendered-chart.ts";

const EC_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

interface CertificateSpec {
  readonly secretName: string;
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
}

/**
 * Issues what the chart's Certificates ask for, as cert-manager does: the contents of their Secrets. Each also has the address of its
 * pod, because the gateway reaches the console by it here.
 */
export async function issueCertificates(
  certificates: readonly KubernetesObject[],
  folder: string,
  addresses: Readonly<Record<string, string>>,
): Promise<StoredFiles> {
  const openssl = (...args: string[]): Promise<unknown> => promisify(execFile)("openssl", args, { cwd: folder });
  await openssl("req", "-x509", "-subj", "/CN=authority", ...EC_KEY, "-keyout", "ca.key", "-out", "ca.crt", "-days", "2");
  const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  const stored: Record<string, Record<string, string>> = {};
  for (const certificate of certificates) {
    const { secretName, dnsNames, uris } = certificate["spec"] as CertificateSpec;
    const address = addresses[certificate.metadata.labels?.["app.kubernetes.io/component"] ?? ""];
    const names = [...dnsNames.map((name) => `DNS:${name}`), ...uris.map((uri) => `URI:${uri}`), ...(address ? [`IP:${address}`] : [])];
    await writeFile(join(folder, "extensions"), `subjectAltName=${names.join(",")}\nextendedKeyUsage=serverAuth,clientAuth\n`);
    await openssl("req", "-subj", "/CN=leaf", ...EC_KEY, "-keyout", "tls.key", "-out", "tls.csr");
    const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1", "-extfile", "extensions"];
    await openssl("x509", "-req", "-in", "tls.csr", ...signed, "-out", "tls.crt");
    stored[secretName] = { "tls.crt": await read("tls.crt"), "tls.key": await read("tls.key"), "ca.crt": await read("ca.crt") };
  }
  return stored;
}
