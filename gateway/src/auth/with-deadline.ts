import { AppError } from "@brand-records/errors";

/**
 * What `work` settles to, if that is before `deadline` (milliseconds since the epoch). The work itself goes on.
 *
 * @throws AppError `timeout`
 */
export async function withDeadline<T>(work: Promise<T>, deadline: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError("timeout", "The answer took too long. Try again.")), deadline - Date.now());
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}
