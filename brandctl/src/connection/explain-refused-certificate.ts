import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { CommandFailure } from "../failure.ts";
import type { Endpoint, TlsFiles } from "./endpoints.ts";

/** grpc-js' number. Loading grpc-js for it would delay every command. */
export const PERMISSION_DENIED = 7;

/** Explains that a service serves the called method to other certificates only. */
export function explainRefusedCertificate(error: Error, { name, address }: Endpoint, { RPC_TLS_CERT: file }: TlsFiles): CommandFailure {
  const which = file === undefined ? "this call, made without a certificate" : `the certificate ${file}, ${whose(file)}`;
  return new CommandFailure("certificate_refused", `${name} at ${address} refuses ${which}; brandctl needs that of \`operator\`.`, {
    cause: error,
    hint: "Set RPC_TLS_CERT and RPC_TLS_KEY, or --tls-cert and --tls-key, to the operator's: its URI ends with /sa/operator and begins like the services' own.",
  });
}

/** Says whose certificate it is, by its SPIFFE id. */
function whose(file: string): string {
  const id = /URI:(spiffe:[^,"]+)/.exec(new X509Certificate(readFileSync(file)).subjectAltName ?? "")?.[1];
  return id === undefined ? "which has no SPIFFE id" : `which is \`${id.slice(id.lastIndexOf("/") + 1)}\` (${id})`;
}
