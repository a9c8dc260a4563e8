import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { render, valuesOf } from "../chart/rendered-chart.ts";
import { findCommands } from "./find-commands.js";

/**
 * The CronJob of docs/kubernetes.md runs as the chart's operator does, so that it is admitted and accounts lets it in. Its commands end: a
 * cluster's test runs them.
 */

interface Container {
  readonly image: string;
  readonly command: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly securityContext: object;
  readonly volumeMounts: readonly object[];
}
interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>> & { readonly containers: readonly [Container]; readonly volumes: readonly object[] };
}

const [, manifest = ""] = /^```yaml\n(apiVersion: batch\/v1\n.*?)^```$/ms.exec(readFileSync("docs/kubernetes.md", "utf8")) ?? [];
const { template: job } = (parse(manifest) as { spec: { jobTemplate: { spec: { template: Pod } } } }).spec.jobTemplate.spec;

let operator: Pod;
beforeAll(async () => {
  const objects = await render(valuesOf("standard"), "br");
  operator = objects.find(({ kind, metadata }) => kind === "Deployment" && metadata.name === "br-brand-records-operator")?.["spec"]
    .template;
}, 300_000);

it("has the operator's identity, network and security", () => {
  for (const field of ["serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "securityContext"]) {
    expect(job.spec[field]).toEqual(operator.spec[field]);
  }
  const [ours, theirs] = [job.spec.containers[0], operator.spec.containers[0]];
  expect(ours.securityContext).toEqual(theirs.securityContext);
  expect(theirs.env).toEqual(expect.arrayContaining([...ours.env]));
  expect(ours.volumeMounts).toEqual(expect.arrayContaining([...theirs.volumeMounts]));
  expect(job.spec.volumes).toEqual(expect.arrayContaining([...operator.spec.volumes]));
  expect(operator.metadata.labels).toMatchObject({ ...job.metadata.labels, "app.kubernetes.io/instance": "br" });
});

it("writes into the volume that stays", () => {
  const [{ command, volumeMounts }] = job.spec.containers;
  expect(command.at(-1)).toMatch(/^exec brandctl audit export --out \/audit\//);
  expect(volumeMounts).toContainEqual({ name: "audit", mountPath: "/audit" });
});

it("has no command that waits for more than two minutes, or for as long as it takes", () => {
  const waiting = findCommands("docs/kubernetes.md").flatMap(
    (command) => command.match(/(?:kubectl [^\n|&]*\b(?:wait|rollout status)\b|helm [^\n|]*\btest\b)[^\n|]*/g) ?? [],
  );
  expect(waiting.length).toBeGreaterThan(6);
  const seconds = waiting.map((command) => {
    const [, count, unit] = /--timeout[ =](\d+)([sm])\b/.exec(command) ?? [];
    return [command, Number(count) * (unit === "m" ? 60 : 1) <= 120];
  });
  expect(seconds).toEqual(waiting.map((command) => [command, true]));
});
