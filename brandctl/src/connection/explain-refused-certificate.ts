import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { CommandFailure } from "../failure.ts";
import type { Endpoint, TlsFiles } from "./endpoints.ts";

/** grpc-js' number. Loading grpc-js for it would delay every command. */
export const PERMISSION_DENIED = 7;

/** Explains that a service serves the called method to other certificates only. */
export function explainRefusedCertificate(error: Error, { name, address }: Endpoint, { RPC_TLS_CERT: file }: TlsFiles): CommandFailure {
  if (file === undefined) return explainRefusedCall(error, { name, address });
  return new CommandFailure(
    "certificate_refused",
    `${name} at ${address} refuses the certificate ${file}, ${whose(file)}; brandctl needs that of \`operator\`.`,
    {
      cause: error,
      hint: "Set RPC_TLS_CERT and RPC_TLS_KEY, or --tls-cert and --tls-key, to the operator's: its URI ends with /sa/operator and begins like the services' own.",
    },
  );
}

/** Without TLS a service knows no operator. */
const explainRefusedCall = (error: Error, { name, address }: Pick<Endpoint, "name" | "address">): CommandFailure =>
  new CommandFailure("call_refused", `${name} at ${address} takes no operator's calls without a certificate.`, {
    cause: error,
    hint: `On a machine that is yours alone, start ${name} with RPC_OPERATOR_WITHOUT_TLS=true; else use TLS with the certificate of operator.`,
  });

/** Says whose certificate it is, by its SPIFFE id, without which no call is made. */
function whose(file: string): string {
  const id = /URI:(spiffe:[^,"]+)/.exec(new X509Certificate(readFileSync(file)).subjectAltName ?? "")?.[1] ?? "";
  return `which is \`${id.slice(id.lastIndexOf("/") + 1)}\` (${id})`;
}
