import { readFileSync } from "node:fs";
import { ConfigError, port } from "@brand-records/config";
import { ChannelCredentials, ServerCredentials } from "@grpc/grpc-js";
import { z } from "zod";

/** The largest gRPC message, in either direction. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;

const pemFile = z.string().optional();

/** Mutual TLS between hosts: PEM files of the certificate, its key, and the authority that signs both sides. */
export const rpcTlsSettings = { RPC_TLS_CERT: pemFile, RPC_TLS_KEY: pemFile, RPC_TLS_CA: pemFile } as const;

export const rpcServerSettings = {
  ...rpcTlsSettings,
  RPC_HOST: z.string().default("127.0.0.1"),
  RPC_PORT: port(0),
} as const;

type TlsConfig = { readonly [Name in keyof typeof rpcTlsSettings]?: string | undefined };

/** Contents of the PEM files. */
export interface MutualTls {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

/**
 * Reads the files of `rpcTlsSettings`; undefined if none is set.
 *
 * @throws ConfigError if only some are set
 */
export function readMutualTls(config: TlsConfig): MutualTls | undefined {
  const { RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca } = config;
  if (cert === undefined && key === undefined && ca === undefined) return undefined;
  if (cert === undefined || key === undefined || ca === undefined) {
    throw new ConfigError(["RPC_TLS_CERT, RPC_TLS_KEY, RPC_TLS_CA: set all three or none"]);
  }
  return { cert: readFileSync(cert), key: readFileSync(key), ca: readFileSync(ca) };
}

/** Whether only this machine reaches a host to listen on. */
export const isLoopback = (host: string): boolean => ["127.0.0.1", "::1", "localhost"].includes(host);

/**
 * @throws ConfigError if RPC_HOST is reachable from other hosts without TLS: callers are trusted with every brand
 */
export function serverCredentials(config: TlsConfig & { readonly RPC_HOST: string }): ServerCredentials {
  const pem = readMutualTls(config);
  if (pem !== undefined) return ServerCredentials.createSsl(pem.ca, [{ cert_chain: pem.cert, private_key: pem.key }], true);
  if (isLoopback(config.RPC_HOST)) return ServerCredentials.createInsecure();
  throw new ConfigError([`RPC_HOST: ${config.RPC_HOST} is reachable from other hosts and needs RPC_TLS_CERT, RPC_TLS_KEY and RPC_TLS_CA`]);
}

export function channelCredentials(config: TlsConfig): ChannelCredentials {
  const pem = readMutualTls(config);
  return pem === undefined ? ChannelCredentials.createInsecure() : ChannelCredentials.createSsl(pem.ca, pem.key, pem.cert);
}
