import type { ProcessOptions, ServiceProcess } from "@brand-records/testkit";

/** Starts a process that ends with the stack, also if the rest of the stack does not start. */
export type StartOwned = (options: ProcessOptions) => Promise<ServiceProcess>;

/** Returns a port that the process has reported. @throws if it has not */
export function portOf(process: ServiceProcess, name: string): number {
  const port = (process.ready as Record<string, unknown>)[name];
  if (typeof port !== "number") throw new Error(`the process did not report its ${name}: ${JSON.stringify(process.ready)}`);
  return port;
}

/** Ends a process that may be frozen (it handles SIGTERM only once thawed) or already killed. */
export async function endProcess(service: ServiceProcess): Promise<void> {
  const ended = service.kill("SIGTERM");
  try {
    process.kill(service.pid, "SIGCONT");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
  await ended;
}
