import {
  DEMO_BRANDS,
  DEMO_RESOURCES,
  generateBrand,
  type BrandSizes,
  type DemoResource,
  type GeneratedBrand,
} from "@brand-records/demo-data";
import { formatInstant } from "@brand-records/resources";
import {
  counted,
  declared,
  openProgressBar,
  option,
  printable,
  withDefault,
  type Column,
  type Declared,
  type Values,
} from "@brand-records/command-line";
import { Option } from "commander";
import type { ImportSummary } from "@brand-records/proto/records/v1";
import { namedBrand, requireBrand } from "../brand-lookup.ts";
import { CommandFailure, Interrupted, UsageFailure } from "../failure.ts";
import { writeFiles, writeToScreen, type WrittenFile } from "../generate/write-records.ts";
import { command, type Session } from "../session.ts";
import { brandOption, numberParser, parseTime, textOption } from "./options.ts";
import { importFrom, problemLine } from "../import/import-from.ts";

const SIZE_NAMES = ["small", "medium", "large"] as const;
type SizeName = (typeof SIZE_NAMES)[number];

/** Those of the demo brands on Plus, Pro and Enterprise. */
const SIZES: Readonly<Record<SizeName, BrandSizes>> = { small: sizesOf("plus"), medium: sizesOf("pro"), large: sizesOf("enterprise") };

const DESCRIPTION = [
  "Make synthetic records: an invented year of a brand's campaigns and creators.",
  "The same brand, seed, time and sizes always make the same records, so resources made one at a time fit together: references exist and sums add up. Any size works: conversions, submissions and deposits are made one by one and take no memory.",
].join("\n\n");

const parseCount = numberParser(0, 999_999_999, "It must be a whole number, such as 50000.");

const counts = Object.fromEntries(
  DEMO_RESOURCES.map((name) => [name, option(`--${name} <count>`, `how many ${name}, instead of what --size gives`, parseCount)]),
) as Readonly<Record<DemoResource, Declared<number | undefined>>>;

const OPTIONS = {
  brand: brandOption("the brand to make them for"),
  resource: declared<readonly DemoResource[] | undefined>(
    new Option("--resource <resource...>", "only these (default: all)").choices(DEMO_RESOURCES),
  ),
  size: declared<SizeName>(new Option("--size <size>", sizeHelp()).choices(SIZE_NAMES).default("small")),
  ...counts,
  seed: withDefault(option("--seed <number>", "another number makes another history", parseCount), 1),
  now: option("--now <time>", "end of the history, such as 2026-11-21T08:30:00Z (default: last midnight, UTC)", parseTime),
  out: textOption("--out <directory>", "write <resource>.ndjson files there; - writes a single resource to standard output"),
  import: declared<boolean | undefined>(new Option("--import", "import the records directly").conflicts("out")),
};

export const generateCommand = command("generate", {
  summary: "make synthetic records",
  description: DESCRIPTION,
  options: OPTIONS,
  examples: [
    ["brandctl records generate --brand brd_… --size large --import", "fill a brand"],
    [
      "brandctl records generate --brand brd_… --resource conversions --conversions 1000000 | gzip > many.ndjson.gz",
      "a million conversions",
    ],
    ["brandctl records generate --brand brd_… --out ./records", "a file for each resource"],
  ],
  run: generate,
});

async function generate(session: Session, options: Values<typeof OPTIONS>): Promise<void> {
  const { seed, out } = options;
  const brandId = namedBrand(session, options.brand);
  const now = options.now ?? Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const sizes = Object.fromEntries(DEMO_RESOURCES.map((name) => [name, options[name] ?? SIZES[options.size][name]])) as BrandSizes;
  const chosen = DEMO_RESOURCES.filter((name) => options.resource?.includes(name) ?? true);
  const brand = generated({ brandId, seed, now, sizes });
  const inputs = { brand_id: brandId, seed, now: formatInstant(now) };

  if (options.import === true) {
    const cell = await requireBrand(session, brandId);
    const imports = await importGenerated(session, { brandId, cell }, brand, chosen, sizes);
    session.printTable({ ...inputs, imports }, IMPORT_COLUMNS, imports);
    return;
  }
  const [only] = chosen;
  if (out === "-" || (out === undefined && chosen.length === 1)) {
    if (chosen.length !== 1 || only === undefined) throw new UsageFailure("--out -: name one resource with --resource");
    if (session.json) throw new UsageFailure("--json: the records themselves go to standard output; write them to --out DIRECTORY");
    await writeToScreen(brand[only](), session.terminal);
    return;
  }
  if (out === undefined) throw new UsageFailure("Choose where the records go: --out DIRECTORY, --import, or one --resource");
  const files = await writeFiles(brand, chosen, out, session.terminal.interrupted);
  session.printTable({ ...inputs, files }, FILE_COLUMNS, files);
  session.note(({ dim }) => dim(`Import one: brandctl records import --brand ${printable(brandId)} --resource RESOURCE FILE`));
}

const IMPORT_COLUMNS: readonly Column<GeneratedImport>[] = [
  { title: "RESOURCE", cell: ({ resource }) => resource },
  { title: "NEW", cell: ({ summary }) => summary.inserted.toLocaleString("en"), align: "right" },
  { title: "CHANGED", cell: ({ summary }) => summary.updated.toLocaleString("en"), align: "right" },
  { title: "UNCHANGED", cell: ({ summary }) => summary.unchanged.toLocaleString("en"), align: "right" },
];

const FILE_COLUMNS: readonly Column<WrittenFile>[] = [
  { title: "FILE", cell: ({ path }) => path, paint: "cyan" },
  { title: "RECORDS", cell: ({ records }) => records.toLocaleString("en"), align: "right" },
  { title: "BYTES", cell: ({ bytes }) => bytes.toLocaleString("en"), align: "right" },
];

const DAY_MS = 86_400_000;

function sizesOf(tier: string): BrandSizes {
  const brand = DEMO_BRANDS.find((demo) => demo.tier === tier);
  if (brand === undefined) throw new Error(`there is no demo brand on ${tier}`);
  return brand.sizes;
}

function sizeHelp(): string {
  return SIZE_NAMES.map(
    (name) => `${name} is ${counted(SIZES[name].submissions, "submission")} and ${counted(SIZES[name].conversions, "conversion")}`,
  ).join("; ");
}

/** @throws UsageFailure for sizes that leave records with nothing to belong to */
function generated(options: Parameters<typeof generateBrand>[0]): ReturnType<typeof generateBrand> {
  try {
    return generateBrand(options);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageFailure(`--${error.message}`);
    throw error;
  }
}

interface GeneratedImport {
  readonly resource: DemoResource;
  readonly summary: ImportSummary;
}

/**
 * Imports one resource after another, each in its own transaction.
 *
 * @throws CommandFailure, Interrupted; the message names the resources imported before
 */
async function importGenerated(
  session: Session,
  target: { readonly brandId: string; readonly cell: string | null },
  brand: GeneratedBrand,
  resources: readonly DemoResource[],
  sizes: BrandSizes,
): Promise<GeneratedImport[]> {
  const imports: GeneratedImport[] = [];
  for (const resource of resources) {
    const bar = openProgressBar(session, resource, sizes[resource]);
    try {
      const { summary, problems } = await importFrom(
        session,
        { ...target, resource, skipBad: false },
        lines(brand[resource]()),
        (progress) => bar.update(progress.lines, progress.lines),
      );
      const [problem] = problems;
      if (problem !== undefined) throw new CommandFailure("refused", `The generated ${resource} were refused: ${problemLine(problem)}.`);
      imports.push({ resource, summary });
    } catch (error) {
      throw withImported(error, imports);
    } finally {
      bar.stop();
    }
  }
  return imports;
}

function withImported(error: unknown, imports: readonly GeneratedImport[]): unknown {
  if (!(error instanceof CommandFailure) || imports.length === 0) return error;
  const done = `Imported before: ${imports.map(({ resource }) => resource).join(", ")}.`;
  if (error instanceof Interrupted) return new Interrupted(`${error.message} ${done}`, error.hint);
  return new CommandFailure(error.code, `${error.message} ${done}`, { cause: error, hint: error.hint });
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}
