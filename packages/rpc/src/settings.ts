import { ConfigError, host, pemFile, port, trueOrFalse } from "@brand-records/config";

/** The largest gRPC message, in either direction. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

/** Mutual TLS between hosts: PEM files of the certificate, its key, and the authority that signs both sides. */
export const rpcTlsSettings = {
  RPC_TLS_CERT: pemFile
    .optional()
    .describe(
      "This process's certificate, with its SPIFFE id, for mutual TLS between processes. All three or none; required unless all are on one host.",
    ),
  RPC_TLS_KEY: pemFile.optional().describe("The certificate's key."),
  RPC_TLS_CA: pemFile.optional().describe("The authority that signs both sides' certificates."),
} as const;

export const rpcServerSettings = {
  ...rpcTlsSettings,
  RPC_HOST: host("127.0.0.1").describe("Address for gRPC. Any but loopback requires `RPC_TLS_CERT`, `RPC_TLS_KEY` and `RPC_TLS_CA`."),
  RPC_PORT: port(7_000).describe("Port for gRPC."),
  RPC_OPERATOR_WITHOUT_TLS: trueOrFalse
    .default("false")
    .describe("Whether, without TLS, a call that proves no person is the operator's: for brandctl on a machine that is yours alone."),
} as const;

export type TlsConfig = { readonly [Name in keyof typeof rpcTlsSettings]?: string | undefined };

const TLS_NEEDED = "is reachable from other hosts and needs RPC_TLS_CERT, RPC_TLS_KEY and RPC_TLS_CA";

/** Whether only this machine reaches a host to listen on, or to connect to. RFC 6761 reserves `localhost` and the names under it. */
export const isLoopback = (host: string): boolean => /^(.+\.)?localhost$/.test(host) || /^127(\.\d{1,3}){3}$|^\[?::1\]?$/.test(host);

/** @throws ConfigError without TLS if other hosts reach `host`: callers are trusted with every brand */
export function requireLoopback(setting: string, host: string): void {
  if (!isLoopback(host)) throw new ConfigError([`${setting}: ${host} ${TLS_NEEDED}`]);
}

/** The hosts of a gRPC target: `host:port`, `dns:///host:port`, `ipv4:host:port,host:port`. None of a socket of this machine. */
export function hostsOf(target: string): string[] {
  if (/^unix(-abstract)?:/.test(target)) return [];
  const addresses = target.replace(/^dns:(\/\/[^/]*\/)?|^ipv[46]:(\/\/\/)?/, "");
  return addresses.split(",").map((address) => address.replace(/^\[(.*)\](:\d+)?$/, "$1").replace(/^([^:]*):\d+$/, "$1"));
}
