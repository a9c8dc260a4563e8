import { AppError, ERROR_KINDS } from "@brand-records/errors";
import { withTimeout, type Clock } from "@brand-records/lifecycle";
import type { RecordUsageRequest, UsageServiceService } from "@brand-records/proto/accounts/v1";
import { newCallContext, type RpcClient } from "@brand-records/rpc";
import { Counter, type Logger, type Registry } from "@brand-records/telemetry";
import { UsageCounts, type DeclaredMessage, type Key, type KeyedRequest } from "./usage-counts.ts";

const CALL_MS = 3_000;
/** Time for all remaining batches, within the 20 s of a stop after its grace period. */
const STOP_MS = 5_000;

export interface UsageRecorderOptions {
  readonly accounts: Pick<RpcClient<UsageServiceService>, "recordUsage">;
  readonly clock: Clock;
  readonly flushMs: number;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly counts?: UsageCounts;
}

export type UsageRecorder = ReturnType<typeof startUsageRecorder>;

/**
 * Counts requests in memory and records the counts, with the last requests, at accounts every `flushMs`: a crash loses no more. While accounts
 * is unavailable, they are kept, up to a bound, and the batch that failed is repeated with its id, because it may have been recorded.
 */
export function startUsageRecorder({ accounts, clock, flushMs, log, metrics, counts = new UsageCounts() }: UsageRecorderOptions) {
  metrics.registerMetric(droppedOf(counts));
  let failed: RecordUsageRequest | undefined;
  let stopping = false;

  const flush = async (): Promise<void> => {
    for (let hasMore = true; hasMore || stopping;) {
      const batch = failed ?? counts.takeBatch();
      if (batch === undefined) return;
      // What comes during the call waits for the next interval: under load there is always some.
      hasMore = counts.size > 0;
      failed = batch;
      try {
        const { keeps_requests } = await accounts.recordUsage(batch, newCallContext(CALL_MS));
        counts.collectRequests(keeps_requests);
      } catch (error) {
        if (!isRefusal(error)) {
          log.warn({ err: error, counts: sizeOf(batch) + counts.size }, "usage cannot be recorded");
          return;
        }
        // A repetition would be refused as well, and hold up all others.
        log.error({ err: error, counts: sizeOf(batch) }, "usage refused and dropped");
      }
      failed = undefined;
    }
  };

  let flushing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const schedule = (): void => {
    if (!stopping) timer = setTimeout(() => void (flushing = flush().then(schedule)), flushMs);
  };
  schedule();

  return {
    /** Counts a request that the rate limiter has decided on. Never fails, and waits for nothing, as the others. */
    count: (principal: Key, verdict: "accepted" | "refused"): void => counts.add(principal, verdict, clock.now()),
    countMessage: (principal: Key, message: DeclaredMessage): void => counts.addMessage(principal, message, clock.now()),
    /** Notes a request with a key that is over, and counts it if it was refused or failed. */
    countRequest(request: KeyedRequest): void {
      const now = clock.now();
      counts.addRequest(request, now);
      if (request.isFailure) counts.addFailure(request, now);
    },
    /** Records what is left. */
    async stop(): Promise<void> {
      stopping = true;
      clearTimeout(timer);
      const done = await withTimeout(
        flushing.then(flush).then(() => failed === undefined),
        STOP_MS,
      );
      if (done !== true) log.warn({ counts: (failed === undefined ? 0 : sizeOf(failed)) + counts.size }, "usage lost");
    },
  };
}

const sizeOf = ({ minutes, clients, failures, requests }: RecordUsageRequest): number =>
  requests.reduce((sum, { count }) => sum + count, minutes.length + clients.length + failures.length);

const isRefusal = (error: unknown): boolean => error instanceof AppError && ERROR_KINDS[error.kind].grpc === "INVALID_ARGUMENT";

function droppedOf(counts: UsageCounts): Counter {
  let reported = 0;
  return new Counter({
    name: "usage_dropped_total",
    help: "Requests missing from the brands' usage, because accounts was unavailable for long.",
    registers: [],
    collect() {
      this.inc(counts.dropped - reported);
      reported = counts.dropped;
    },
  });
}
