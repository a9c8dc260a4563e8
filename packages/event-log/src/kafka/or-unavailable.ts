import { AppError } from "@brand-records/errors";

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
