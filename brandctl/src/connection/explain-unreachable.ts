import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { AppError } from "@brand-records/errors";
import { CommandFailure } from "../failure.ts";
import type { Endpoint, TlsFiles } from "./endpoints.ts";

/**
 * Converts a failure of the transport to a CommandFailure that names the address, and a refused certificate to one that names the file.
 * Errors that the service itself returned, `unavailable` included, are returned unchanged.
 *
 * @param advice added at the end of the hint
 */
export function explainUnreachable(error: unknown, endpoint: Endpoint, tls: TlsFiles, advice = " See brandctl doctor."): unknown {
  if (!(error instanceof AppError)) return error;
  const { cause } = error;
  if (!isTransportError(cause)) return error;
  if (cause.code === PERMISSION_DENIED) return explainRefusedCertificate(error, endpoint, tls);
  if (error.kind !== "unavailable" && error.kind !== "timeout") return error;
  const { name, address, from } = endpoint;
  const message =
    error.kind === "timeout"
      ? `${name} at ${address} (${from}) did not respond in time.`
      : `${name} cannot be reached at ${address} (${from}): ${reasonIn(cause.details)}.`;
  return new CommandFailure(error.kind, message, { cause: error, hint: hintFor(endpoint, cause.details) + advice });
}

interface TransportError {
  readonly code?: number;
  readonly details: string;
}

/** An error that a service returned has its kind in the trailers; the transport's own errors have no kind. */
function isTransportError(cause: unknown): cause is TransportError {
  if (!(cause instanceof Error) || !("details" in cause) || typeof cause.details !== "string") return false;
  const metadata = "metadata" in cause ? (cause.metadata as { get(name: string): unknown[] } | undefined) : undefined;
  return (metadata?.get("error-kind").length ?? 0) === 0;
}

function reasonIn(details: string): string {
  const reason = /\b(ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)\b/.exec(details)?.[1];
  if (reason === "ECONNREFUSED") return "nothing listens there";
  if (reason === "ENOTFOUND" || reason === "EAI_AGAIN" || details.startsWith("Name resolution failed")) return "no such host";
  // grpc-js reports each layer; the innermost says what happened.
  const innermost = /.*Last error: (.*?)(?: \(\d{4}-[^)]*\))?\. Resolution note/.exec(details)?.[1];
  // It says null when it has looked the name up again since the connection failed.
  return innermost === "null" ? "no connection was made" : (reason ?? innermost ?? details).replace(/\.$/, "");
}

export function hintFor({ name, from }: Endpoint, details = ""): string {
  if (/\bSSL\b|\bTLS\b|certificate|ECONNRESET|Protocol error|Failed to connect|Connection dropped/i.test(details)) {
    return "One side may speak TLS and the other not: see RPC_TLS_CERT, RPC_TLS_KEY and RPC_TLS_CA.";
  }
  const stale = from.endsWith(".json") ? "The file may be left from a run that has ended: npm start starts another. " : "";
  return `${stale}Is ${name} running?`;
}

/** grpc-js' number. Loading grpc-js for it would delay every command. */
const PERMISSION_DENIED = 7;

/** Explains that a service serves the called method to other certificates only. */
function explainRefusedCertificate(error: Error, { name, address }: Endpoint, { RPC_TLS_CERT: file }: TlsFiles): CommandFailure {
  // Without TLS a service knows no operator.
  if (file === undefined) {
    return new CommandFailure("call_refused", `${name} at ${address} takes no operator's calls without a certificate.`, {
      cause: error,
      hint: `On a machine that is yours alone, start ${name} with RPC_OPERATOR_WITHOUT_TLS=true; else use TLS with the certificate of operator.`,
    });
  }
  return new CommandFailure(
    "certificate_refused",
    `${name} at ${address} refuses the certificate ${file}, ${whose(file)}; brandctl needs that of \`operator\`.`,
    {
      cause: error,
      hint: "Set RPC_TLS_CERT and RPC_TLS_KEY, or --tls-cert and --tls-key, to the operator's: its URI ends with /sa/operator and begins like the services' own.",
    },
  );
}

/** Says whose certificate it is, by its SPIFFE id, without which no call is made. */
function whose(file: string): string {
  const id = /URI:(spiffe:[^,"]+)/.exec(new X509Certificate(readFileSync(file)).subjectAltName ?? "")?.[1] ?? "";
  return `which is \`${id.slice(id.lastIndexOf("/") + 1)}\` (${id})`;
}
