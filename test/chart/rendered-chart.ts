import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { helmAndKubectl } from "./kubernetes/helm-and-kubectl.ts";

const FOLDER = mkdtempSync(join(tmpdir(), `brand-records-chart-${process.pid}-`));
afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

/** A copy of the chart with its rules and dashboards, as `npm run chart` completes the one in the tree. */
export const CHART = copyOfChart("complete");
execFileSync(process.execPath, ["deploy/helm/copy-files.js", CHART]);

/** Copies the chart as a fresh clone has it. */
export function copyOfChart(name: string): string {
  // helm lint compares the folder's name with the chart's.
  const chart = join(FOLDER, name, "brand-records");
  cpSync(join(process.cwd(), "deploy/helm/brand-records"), chart, { recursive: true });
  rmSync(join(chart, "files"), { recursive: true, force: true });
  return chart;
}

export const VALUE_FILES = ["laptop", "standard", "large"] as const;
export type ValueFile = (typeof VALUE_FILES)[number];

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
  // Objects are of many kinds: tests read what their kind has.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

/** The name under which all tests install it: names of objects begin with it. */
export const RELEASE = "shop";
export const FULLNAME = "shop-brand-records";

export const valuesOf = (file: ValueFile): string[] => ["--values", join(CHART, `values-${file}.yaml`)];

/** What `helm template` writes. @throws Error with helm's message */
export async function renderText(args: readonly string[], chart: string = CHART, release: string = RELEASE): Promise<string> {
  const { helm } = await helmAndKubectl();
  return helm(["template", release, chart, "--namespace", "records", ...args]);
}

export async function render(args: readonly string[], release: string = RELEASE): Promise<KubernetesObject[]> {
  return objectsOf(await renderText(args, CHART, release));
}

export const objectsOf = (text: string): KubernetesObject[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
