// Writes the chart's README from the comments of its values.yaml. `npm run chart:readme` runs it; with --check it compares.
import { readFile } from "node:fs/promises";
import { format, resolveConfig } from "prettier";
import { isMap, isScalar, parseDocument } from "yaml";
import { writeOrCheck } from "./generated-file.js";

const CHART = new URL("../deploy/helm/brand-records/", import.meta.url);
/** What has values of its own beside those of all. */
const OWNERS = new Set(["gateway", "console", "accounts", "records", "plans", "webhook", "operator"]);

const INTRODUCTION = `# brand-records

\`npm run chart:readme\` writes this page from the comments of [values.yaml](values.yaml).

The chart installs the processes of Brand Records, each with its own certificate, Secret, ServiceAccount and NetworkPolicy, as the \`restricted\` Pod
Security Standard asks for. It brings no database. It needs Kubernetes 1.31, Helm 3.17, Postgres 15, and for more than a trial Redis, Kafka and cert-manager.

\`\`\`sh
helm install br oci://REGISTRY/charts/brand-records --version RELEASE --namespace records --values my-values.yaml
helm --namespace records test br --logs --timeout 1m || kubectl --namespace records events --types=Warning
\`\`\`

docs/kubernetes.md of the release has the steps before it (databases, Secrets, an authority), a table of mistakes and what answers each, upgrades, rotations and
restores. \`values-laptop.yaml\`, \`values-standard.yaml\` and \`values-large.yaml\`, in the chart, are installations to copy.
`;

/** Returns the page. @throws an error that names every value without a comment */
async function chartReadme() {
  const document = parseDocument(await readFile(new URL("values.yaml", CHART), "utf8"));
  const sections = sectionsOf(document.contents);
  requireTexts(sections.flatMap(({ rows }) => rows));
  const text = [INTRODUCTION, ...sections.map(sectionText)].join("\n");
  return format(text, { ...(await resolveConfig("README.md")), parser: "markdown" });
}

/** Top-level values under the `## Title` above them, with the paragraph after it. */
function sectionsOf(contents) {
  const sections = [];
  for (const pair of contents.items) {
    // The first comment of a document is its own, or its map's, not its first key's.
    const isFirst = pair === contents.items[0];
    const comment = [isFirst ? contents.commentBefore : undefined, pair.key.commentBefore].filter(Boolean).join("\n\n");
    const [, title, rest] = /(?:^|\n)# (.+)\n?([\s\S]*)$/.exec(comment) ?? [];
    if (title !== undefined) sections.push({ title, note: "", rows: [] });
    const section = sections.at(-1);
    let own = textOf(title === undefined ? comment : rest);
    if (title !== undefined) {
      // A paragraph that an empty line parts from the key is the section's.
      const paragraphs = (rest ?? "").trim().split(/\n\s*\n/);
      if (paragraphs.length > 1) section.note = textOf(paragraphs[0]);
      own = textOf(paragraphs.at(-1));
    }
    addRows(section.rows, [pair.key.value], pair.value, own);
  }
  return sections;
}

function addRows(rows, path, value, what) {
  const isOpen = isMap(value) && !value.flow && value.items.length > 0;
  if (!isOpen) return void rows.push({ path, fallback: defaultText(value), what });
  if (what !== "") rows.push({ path, fallback: "", what });
  for (const [index, pair] of value.items.entries()) {
    const comment = pair.key.commentBefore ?? (index === 0 ? value.commentBefore : undefined);
    addRows(rows, [...path, pair.key.value], pair.value, textOf(comment));
  }
}

const textOf = (comment) =>
  (comment ?? "")
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .trim();

function defaultText(value) {
  const plain = isScalar(value) ? value.value : value.toJSON();
  return plain === "" ? "" : `\`${typeof plain === "string" ? plain : JSON.stringify(plain)}\``;
}

/** A value that several processes have is described once, at the first that has a comment. */
function sectionText({ title, note, rows }) {
  const first = new Map();
  for (const row of rows) {
    const key = row.path.slice(1).join(".");
    if (OWNERS.has(row.path[0]) && key !== "" && row.what !== "" && !first.has(key)) first.set(key, row);
  }
  const lines = rows.flatMap((row) => {
    const described = OWNERS.has(row.path[0]) ? first.get(row.path.slice(1).join(".")) : undefined;
    if (described === undefined || described === row || row.what !== "") return [line(row, row.what)];
    return described.fallback === row.fallback ? [] : [line(row, `as ${described.path.join(".")}`)];
  });
  return [`## ${title}`, "", note, "", "| Value | Default | What |", "|-|-|-|", ...lines, ""].join("\n");
}

/** One comment suffices for a value that several processes have. */
function requireTexts(rows) {
  const described = new Set(rows.filter(({ what }) => what !== "").map(({ path }) => path.join(".")));
  const shared = new Set(rows.filter(({ what }) => what !== "").map(({ path }) => path.slice(1).join(".")));
  const missing = rows
    .map(({ path }) => path)
    .filter((path) => !described.has(path.join(".")) && !(OWNERS.has(path[0]) && shared.has(path.slice(1).join("."))));
  if (missing.length > 0) throw new Error(`These values have no comment: ${missing.map((path) => path.join(".")).join(", ")}`);
}

const line = ({ path, fallback }, what) => `| \`${path.join(".")}\` | ${cell(fallback)} | ${cell(what)} |`;
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

await writeOrCheck("deploy/helm/brand-records/README.md", await chartReadme(), "chart:readme");
