import { ConfigError } from "@brand-records/config";
import { AppError } from "@brand-records/errors";

/** The part of a broker's answer that says why it refuses: no right, or a topic that is compacted. */
const REFUSALS = /AUTHORIZATION_FAILED|POLICY_VIOLATION/;

/** Returns the brokers' word for why they refuse; undefined for any other error. */
export function refusalIn(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("type" in error && typeof error.type === "string" && REFUSALS.test(error.type)) return error.type;
  const causes = "partitions" in error && Array.isArray(error.partitions) ? (error.partitions as { error?: unknown }[]) : [];
  for (const cause of [error.cause, ...causes.map((partition) => partition.error)]) {
    const refused = refusalIn(cause);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** Errors of kafkajs mean nothing to callers over gRPC. */
export async function orUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("unavailable", "The event log is unavailable. Try again.", {
      cause: error,
      retryAfterSeconds: 5,
      dependency: "kafka",
    });
  }
}

/** What the brokers, or TLS, say when they refuse a connection, and the setting to look at. The first that matches counts. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/ERR_TLS_CERT_ALTNAME_INVALID/, "the broker's certificate has another name than KAFKA_BROKERS, or than the broker advertises"],
  [/CERT_|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/, "the broker's certificate is not of the authorities in KAFKA_TLS_CA"],
  [/UNSUPPORTED_SASL_MECHANISM/, "the broker does not offer KAFKA_SASL_MECHANISM"],
  [/KafkaJSSASLAuthenticationError/, "the broker refuses KAFKA_SASL_USERNAME with KAFKA_SASL_PASSWORD"],
  [/ILLEGAL_SASL_STATE/, "the broker expects no login: KAFKA_SASL_MECHANISM is set"],
  [/before secure TLS connection/, "the broker does not speak TLS at this address: KAFKA_TLS is true"],
  [
    /KafkaJSConnectionClosedError/,
    "the broker closes new connections; if it is up, it may expect TLS (KAFKA_TLS) or a login (KAFKA_SASL_MECHANISM)",
  ],
];
/** A broker that stops may cause them too. */
const MAY_PASS = /before secure TLS connection|KafkaJSConnectionClosedError/;

/**
 * Names the setting that a refused connection is probably about, before the words of the client: in a ConfigError, unless it may pass.
 * Repeats no setting's value but addresses. Returns anything else as it is.
 */
export function explainRefusal(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { name, message } = cause;
    const words = [name, message, ...("code" in cause ? [cause.code] : []), ...("type" in cause ? [cause.type] : [])].join(" ");
    const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(words)) ?? [];
    if (remedy === undefined) continue;
    const explained = `${remedy}: ${message}`;
    return MAY_PASS.test(words) ? new Error(explained, { cause: error }) : new ConfigError([explained], { cause: error });
  }
  return error;
}
