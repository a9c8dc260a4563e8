/** What the start hook started, for the stop hook: both run in jest's main process, but load their modules anew. */
export interface StartedService {
  readonly name: string;
  stop(): Promise<void>;
}

const KEY = Symbol.for("brand-records.test.started-services");
const shared = globalThis as unknown as Record<symbol, StartedService[] | undefined>;
const started = (shared[KEY] ??= []);

export function own(name: string, stop: () => Promise<unknown>): void {
  started.push({ name, stop: async () => void (await stop()) });
}

/** Newest first; one that cannot be stopped does not keep the others from it. Any number of calls stop each once. */
export async function stopAll(): Promise<void> {
  const failures: unknown[] = [];
  for (let service = started.pop(); service !== undefined; service = started.pop()) {
    await service.stop().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `not stopped: ${failures.map(String).join("; ")}`);
}
