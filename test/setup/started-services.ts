export interface StartedService {
  readonly name: string;
  stop(): Promise<void>;
}

declare global {
  /** Shared by the start hook and the stop hook: jest runs both in its main process, but each loads its own copy of this module. */
  var startedServices: StartedService[] | undefined;
}

const started = (globalThis.startedServices ??= []);

/** Hands a service to `stopAll`. */
export function own(name: string, stop: () => Promise<unknown>): void {
  started.push({ name, stop: async () => void (await stop()) });
}

/** Stops each service once, newest first, also after one fails. */
export async function stopAll(): Promise<void> {
  const failures: unknown[] = [];
  for (let service = started.pop(); service !== undefined; service = started.pop()) {
    await service.stop().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, `not stopped: ${failures.map(String).join("; ")}`);
}
