import type { ServiceProcess } from "@brand-records/testkit";

/** Returns the base URL of the metrics and probes of a process. */
export function adminUrlOf({ ready }: ServiceProcess): string {
  return `http://127.0.0.1:${(ready as { admin_port: number }).admin_port}`;
}

/** Returns the readiness probe's body. */
export async function readinessOf(process: ServiceProcess): Promise<unknown> {
  return (await fetch(`${adminUrlOf(process)}/readyz`)).json();
}

/** Returns all metrics as the process exposes them. */
export async function metricsOf(process: ServiceProcess): Promise<string> {
  return (await fetch(`${adminUrlOf(process)}/metrics`)).text();
}

/** Returns the value of the first metric with that name, or NaN. */
export async function metricOf(process: ServiceProcess, name: string): Promise<number> {
  return Number(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "m").exec(await metricsOf(process))?.[1] ?? Number.NaN);
}

export type LogLine = Readonly<Record<string, unknown>>;

/** What the process has logged. Its last line may not be complete yet. */
export function logOf(process: Pick<ServiceProcess, "output">): LogLine[] {
  const output = process.output();
  const complete = output.slice(0, output.lastIndexOf("\n") + 1).split("\n");
  return complete.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
}
