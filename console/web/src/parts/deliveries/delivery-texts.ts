import type { Delivery } from "@brand-records/console-contract";

/** What an attempt's outcome means to the receiver's owner. */
const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: "Accepted",
  refused: "Refused",
  dns: "The host’s name could not be resolved",
  forbidden_address: "The host’s address is not public",
  proxy_refused: "Our proxy did not connect; not the receiver’s fault",
  connect: "No connection",
  tls: "TLS failed",
  timeout: "No complete response in time",
  closed: "The connection closed before a response",
  protocol: "The response was not valid HTTP",
  unsendable: "It could not be signed or sent",
  unknown: "Unknown: the sending process ended",
};

/** An outcome in words, with the status if a response came; its name if it is of a later release. */
export function outcomeText(outcome: string, httpStatus: number | null): string {
  if (httpStatus !== null && (outcome === "accepted" || outcome === "refused")) return `HTTP ${httpStatus}`;
  return OUTCOMES[outcome] ?? outcome;
}

/** Attempts of a delivery, unless RETRY_DELAYS_SECONDS is set. */
const ATTEMPTS_MAX = 10;

/** "Retrying, attempt 3 of 10" for a delivery that waits after a failure; undefined for every other. */
export const retryText = ({ state, attempts }: Pick<Delivery, "state" | "attempts">): string | undefined =>
  state === "pending" && attempts > 0
    ? `Retrying, attempt ${attempts + 1}${attempts < ATTEMPTS_MAX ? ` of ${ATTEMPTS_MAX}` : ""}`
    : undefined;

/**
 * When the next attempt may be made, in milliseconds since the epoch: as soon as it is due and sending is not paused.
 *
 * @returns undefined unless the delivery waits for an attempt
 */
export function nextAttemptAt({ state, due_at }: Pick<Delivery, "state" | "due_at">, pausedUntil: string | null): number | undefined {
  if (state !== "pending" || due_at === null) return undefined;
  return Math.max(Date.parse(due_at), pausedUntil === null ? Number.NEGATIVE_INFINITY : Date.parse(pausedUntil));
}

/** Whether an attempt waits for nothing but room: its receiver has others in flight, or is tried with one first. */
export const isDue = (next: number, now: number): boolean => next <= now;

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** Time left in words, in its two largest units: "4 min 5 s", "2 h 10 min"; "now" if none is left. */
export function timeLeft(ms: number): string {
  const left = Math.ceil(ms / SECOND) * SECOND;
  if (left <= 0) return "now";
  if (left < MINUTE) return `${left / SECOND} s`;
  if (left < HOUR) return `${Math.floor(left / MINUTE)} min ${(left % MINUTE) / SECOND} s`;
  if (left < DAY) return `${Math.floor(left / HOUR)} h ${Math.floor((left % HOUR) / MINUTE)} min`;
  return `${Math.floor(left / DAY)} d ${Math.floor((left % DAY) / HOUR)} h`;
}

type Attempts = Pick<Delivery, "attempts" | "state" | "last_outcome" | "last_duration_ms">;

/** "3 attempts, the last 120 ms": the finished ones. Undefined before the first. */
export function attemptsText({ attempts, state, last_outcome, last_duration_ms }: Attempts): string | undefined {
  const finished = state === "sending" ? attempts - 1 : attempts;
  if (last_outcome === null || finished < 1) return undefined;
  const count = finished === 1 ? "1 attempt" : `${finished.toLocaleString("en-PH")} attempts`;
  if (last_duration_ms === null) return count;
  return `${count}, ${finished === 1 ? "" : "the last "}${last_duration_ms.toLocaleString("en-PH")} ms`;
}

/** Ends the event in the command. JSON is one line, so that none of its texts is a line of this word. */
const END = "EVENT";

/** The command that sends an event, byte for byte, to a program under development. The service itself calls public addresses only. */
export const sendCommand = (commandLine: string, type: string, body: string): string =>
  [
    `cat > event.json <<'${END}'`,
    body,
    END,
    `${commandLine} events send ${type} --body event.json \\`,
    "  --to http://localhost:3000/hooks --secret-file secret",
  ].join("\n");
