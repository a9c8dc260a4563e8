/** A process's metrics as Prometheus scrapes them, as far as doctor reads them. */
export interface Metrics {
  /** The process that they are of: the label `service`. */
  readonly service: string | undefined;
  /** The first sample of this name; undefined if there is none. */
  value(name: string): number | undefined;
}

const SAMPLE = /^([a-zA-Z_:][\w:]*)(\{[^}]*\})? (\S+)/;

export function readMetrics(text: string): Metrics {
  const samples = text.split("\n").flatMap((line) => {
    const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  const service = samples.map(({ labels }) => /[{,]service="([^"]*)"/.exec(labels)?.[1]).find((label) => label !== undefined);
  return { service, value: (name) => samples.find((sample) => sample.name === name)?.value };
}
