import { DEMO_BRANDS, generateBrand, type BrandSizes } from "@brand-records/demo-data";
import { formatInstant, parseInstant, RESOURCE_NAMES, type ResourceName } from "@brand-records/resources";
import { Command, InvalidArgumentError, Option } from "commander";
import { UsageFailure } from "../failure.ts";
import { importGenerated, type GeneratedImport } from "../generating/import-generated.ts";
import { writeFiles, writeToScreen, type WrittenFile } from "../generating/write-records.ts";
import { requireBrand } from "../importing/require-brand.ts";
import { printable } from "../output/printable.ts";
import { counted, table, type Column } from "../output/table.ts";
import type { Colors, Session } from "../session.ts";
import type { Shell } from "../shell.ts";
import { examples } from "./examples.ts";

const SIZE_NAMES = ["small", "medium", "large"] as const;
type SizeName = (typeof SIZE_NAMES)[number];

/** As large as the demo brands on Plus, Pro and Enterprise. */
const SIZES: Readonly<Record<SizeName, BrandSizes>> = { small: sizesOf("plus"), medium: sizesOf("pro"), large: sizesOf("enterprise") };

type GenerateOptions = { readonly [Name in ResourceName]?: number } & {
  readonly brand: string;
  readonly resource?: readonly ResourceName[];
  readonly size: SizeName;
  readonly seed: number;
  readonly now?: number;
  readonly out?: string;
  readonly import?: boolean;
};

const DESCRIPTION = [
  "Make synthetic records: a year of a brand's campaigns with creators, as it could have been. Nobody in them exists.",
  "The same brand, seed, time and sizes make the same records, whichever of them are asked for; so resources made one at a time fit each other. References exist and sums add up. Any size works: conversions, submissions and deposits are made one by one, and take no memory.",
].join("\n\n");

export function generateCommand(shell: Shell): Command {
  const command = new Command("generate")
    .summary("make synthetic records")
    .description(DESCRIPTION)
    .requiredOption("--brand <id>", "the brand to make them for")
    .addOption(new Option("--resource <resource...>", "only these (default: all six)").choices(RESOURCE_NAMES))
    .addOption(new Option("--size <size>", sizeHelp()).choices(SIZE_NAMES).default("small"));
  for (const name of RESOURCE_NAMES) command.option(`--${name} <count>`, `how many ${name}, whatever the size says`, parseCount);
  return command
    .option("--seed <number>", "another number makes another history", parseCount, 1)
    .option("--now <time>", "when the history ends, such as 2026-11-21T08:30:00Z (default: last midnight, UTC)", parseTime)
    .addOption(new Option("--out <directory>", "write <resource>.ndjson files there; - writes a single resource to standard output"))
    .addOption(new Option("--import", "import the records at once").conflicts("out"))
    .addHelpText(
      "after",
      examples(
        ["brandctl records generate --brand brd_01h4… --size large --import", "fill a brand"],
        [
          "brandctl records generate --brand brd_01h4… --resource conversions --conversions 1000000 | gzip > many.ndjson.gz",
          "a million of them",
        ],
        ["brandctl records generate --brand brd_01h4… --out ./records", "six files"],
      ),
    )
    .action((options: GenerateOptions, command: Command) => shell.act(command, (session) => generate(options, session)));
}

async function generate(options: GenerateOptions, session: Session): Promise<void> {
  const { brand: brandId, seed, out } = options;
  if (!/^brd_[0-9a-z]{1,40}$/.test(brandId)) throw new UsageFailure("--brand: must be brd_ and 1 to 40 lower-case letters or digits");
  const now = options.now ?? Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const sizes = Object.fromEntries(RESOURCE_NAMES.map((name) => [name, options[name] ?? SIZES[options.size][name]])) as BrandSizes;
  const chosen = IMPORT_ORDER.filter((name) => options.resource?.includes(name) ?? true);
  const brand = checkedBrand({ brandId, seed, now, sizes });
  const about = { brand_id: brandId, seed, now: formatInstant(now) };

  if (options.import === true) {
    await requireBrand(session, brandId);
    const imports = await importGenerated(session, brandId, brand, chosen, sizes);
    session.print({ ...about, imports }, (colors) => table(IMPORT_COLUMNS, imports, colors, ""));
    return;
  }
  const [only] = chosen;
  if (out === "-" || (out === undefined && chosen.length === 1)) {
    if (chosen.length !== 1 || only === undefined) throw new UsageFailure("--out -: name one resource with --resource");
    if (session.json) throw new UsageFailure("--json: the records themselves go to standard output; write them to --out DIRECTORY");
    await writeToScreen(brand[only](), session.terminal);
    return;
  }
  if (out === undefined) throw new UsageFailure("Say where the records should go: --out DIRECTORY, --import, or one --resource");
  const files = await writeFiles(brand, chosen, out, session.terminal.interrupted);
  session.print({ ...about, files }, (colors) => table(fileColumns(colors), files, colors, ""));
  session.note(({ dim }) => dim(`Import one: brandctl records import --brand ${printable(brandId)} --resource RESOURCE FILE`));
}

const IMPORT_COLUMNS: readonly Column<GeneratedImport>[] = [
  { title: "RESOURCE", cell: ({ resource }) => resource },
  { title: "NEW", cell: ({ summary }) => summary.inserted.toLocaleString("en"), align: "right" },
  { title: "CHANGED", cell: ({ summary }) => summary.updated.toLocaleString("en"), align: "right" },
  { title: "AS THEY WERE", cell: ({ summary }) => summary.unchanged.toLocaleString("en"), align: "right" },
];

const fileColumns = (colors: Colors): readonly Column<WrittenFile>[] => [
  { title: "FILE", cell: ({ path }) => path, paint: colors.cyan },
  { title: "RECORDS", cell: ({ records }) => records.toLocaleString("en"), align: "right" },
  { title: "BYTES", cell: ({ bytes }) => bytes.toLocaleString("en"), align: "right" },
];

const DAY_MS = 86_400_000;

/** What others refer to comes first. */
const IMPORT_ORDER: readonly ResourceName[] = ["campaigns", "links", "payouts", "deposits", "submissions", "conversions"];

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

function checkedBrand(options: Parameters<typeof generateBrand>[0]): ReturnType<typeof generateBrand> {
  try {
    return generateBrand(options);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageFailure(`--${error.message}`);
    throw error;
  }
}

function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number, such as 50000.");
  return Number(text);
}

function parseTime(text: string): number {
  const time = parseInstant(text);
  if (time === undefined) throw new InvalidArgumentError("It must be an RFC 3339 time with an offset, such as 2026-11-21T08:30:00Z.");
  return time;
}
