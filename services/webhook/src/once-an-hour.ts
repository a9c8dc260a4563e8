const HOUR_MS = 3_600_000;

/** Returns a task that runs `work` in the first call of each hour (UTC), and again in the next call if it fails. */
export function onceAnHour(work: () => Promise<unknown>, now: () => number = Date.now): () => Promise<void> {
  let doneIn: number | undefined;
  return async () => {
    const hour = Math.floor(now() / HOUR_MS);
    if (hour === doneIn) return;
    await work();
    doneIn = hour;
  };
}
