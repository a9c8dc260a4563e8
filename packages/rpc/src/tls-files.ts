import { createPrivateKey, X509Certificate } from "node:crypto";
import { ConfigError, readFileOf } from "@brand-records/config";
import type { TlsConfig } from "./settings.ts";

/** Contents of the PEM files of `rpcTlsSettings`, which fit each other. */
export interface MutualTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

export type TlsFiles = { readonly [Name in keyof TlsConfig]-?: string };

/**
 * Returns the files' names; undefined if none is set.
 *
 * @throws ConfigError if only some are set
 */
export function tlsFilesOf({ RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA }: TlsConfig): TlsFiles | undefined {
  if (RPC_TLS_CERT === undefined && RPC_TLS_KEY === undefined && RPC_TLS_CA === undefined) return undefined;
  if (RPC_TLS_CERT === undefined || RPC_TLS_KEY === undefined || RPC_TLS_CA === undefined) {
    throw new ConfigError(["RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA: set all three or none"]);
  }
  return { RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA };
}

/** Reads the files. @throws ConfigError that says which is wrong, and never what is in it */
export function readTlsFiles(files: TlsFiles): MutualTls {
  const cert = readFileOf("RPC_TLS_CERT", files.RPC_TLS_CERT);
  const key = readFileOf("RPC_TLS_KEY", files.RPC_TLS_KEY);
  const ca = readFileOf("RPC_TLS_CA", files.RPC_TLS_CA);
  const [leaf] = certificatesOf("RPC_TLS_CERT", cert);
  certificatesOf("RPC_TLS_CA", ca);
  const privateKey = attempt(() => createPrivateKey(key), "RPC_TLS_KEY: the file holds no private key without a passphrase");
  if (!leaf.checkPrivateKey(privateKey)) throw new ConfigError(["RPC_TLS_KEY: is not the key of the certificate in RPC_TLS_CERT"]);
  return { cert, key, ca };
}

/** The certificates of a PEM file that `readTlsFiles` has read. */
export const certificatesIn = (pem: Buffer): X509Certificate[] =>
  (pem.toString("latin1").match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (each) => new X509Certificate(each),
  );

function certificatesOf(name: keyof TlsFiles, pem: Buffer): readonly [X509Certificate, ...X509Certificate[]] {
  const problem = `${name}: the file holds no certificate in PEM form`;
  const [first, ...others] = attempt(() => certificatesIn(pem), problem);
  if (first === undefined) throw new ConfigError([problem]);
  return [first, ...others];
}

function attempt<T>(parse: () => T, problem: string): T {
  try {
    return parse();
  } catch {
    throw new ConfigError([problem]);
  }
}
