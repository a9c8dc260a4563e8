import { readFileSync } from "node:fs";
import { parse, parseAllDocuments } from "yaml";

/** One promise: the CronJob of docs/kubernetes.md runs as the chart's operator does, so that it is admitted and accounts lets it in. */

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

/** The render of the chart for the release `shop`. */
const operator = parseAllDocuments(
  readFileSync("test/chart/renders/standard.yaml", "utf8").replaceAll("shop-brand-records", "br-brand-records"),
)
  .map((document) => document.toJS() as { kind: string; metadata: { name: string }; spec: { template: Pod } } | null)
  .find((object) => object?.kind === "Deployment" && object.metadata.name === "br-brand-records-operator")?.spec.template;
if (operator === undefined) throw new Error("the render has no operator");

it("has the operator's identity, network and security", () => {
  for (const field of ["serviceAccountName", "automountServiceAccountToken", "enableServiceLinks", "securityContext"]) {
    expect(job.spec[field]).toEqual(operator.spec[field]);
  }
  const [ours, theirs] = [job.spec.containers[0], operator.spec.containers[0]];
  expect(ours.securityContext).toEqual(theirs.securityContext);
  expect(theirs.env).toEqual(expect.arrayContaining([...ours.env]));
  expect(ours.volumeMounts).toEqual(expect.arrayContaining([...theirs.volumeMounts]));
  expect(job.spec.volumes).toEqual(expect.arrayContaining([...operator.spec.volumes]));
  expect(operator.metadata.labels).toMatchObject({ ...job.metadata.labels, "app.kubernetes.io/instance": "shop" });
});

it("writes into the volume that stays", () => {
  const [{ command, volumeMounts }] = job.spec.containers;
  expect(command.at(-1)).toMatch(/^exec brandctl audit export --out \/audit\//);
  expect(volumeMounts).toContainEqual({ name: "audit", mountPath: "/audit" });
});
