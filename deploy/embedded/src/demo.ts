import { keyDigest } from "@brand-records/ids";
import { importRecords } from "@brand-records/brandctl";
import { DEMO_BRANDS, DEMO_RESOURCES, generateBrand, type DemoResource } from "@brand-records/demo-data";
import { AccountsServiceService, SignInServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { listMethod } from "@brand-records/resources";
import { connectRpc, newCallContext, type CallContext } from "@brand-records/rpc";
import { exampleBrand } from "./banner.ts";
import { onConnection } from "./database.ts";
import { readJson, writeJson } from "./local-files.ts";
import type { RunBrand, RunFile } from "./run-file.ts";

const SEED = 1;
const STEP_DEADLINE_MS = 120_000;
const LINK_SECONDS = 24 * 3_600;

type DemoBrand = (typeof DEMO_BRANDS)[number];

export interface DemoParts {
  readonly addresses: { readonly accounts: string; readonly records: string };
  /** The second brand is made in the first of them. */
  readonly cells: RunFile["cells"];
  readonly cell_databases: RunFile["cell_databases"];
  /** The environment of the keys. */
  readonly environment: "live" | "test";
  /**
   * Has the brands of earlier runs, whose keys are kept while they are valid, and gets new ones at once: accounts shows a key only once. No
   * other file that outlives a run has keys.
   */
  readonly file: string;
  /** The console's URL without a trailing slash; null makes no link. */
  readonly linksTo: string | null;
}

export interface Demo {
  readonly brands: readonly RunBrand[];
  /** A submission of the example brand; undefined if none of its 200 newest is pending. */
  readonly pendingSubmission: string | undefined;
  /** Signs the owner of the example brand in to the console, once and within 24 hours. */
  readonly signInUrl: string | null;
}

// The main module of a process, which sends texts of its progress, then the Demo. SIGTERM ends it between two brands.
let isInterrupted = false;
process.once("SIGTERM", () => (isInterrupted = true));
const send = (message: string | Demo): void => void process.send?.(message);
const { addresses, cells, cell_databases, environment, file, linksTo } = JSON.parse(process.argv[2] ?? "") as DemoParts;
const clients = {
  accounts: connectRpc(AccountsServiceService, addresses.accounts),
  verification: connectRpc(VerificationServiceService, addresses.accounts),
  signIn: connectRpc(SignInServiceService, addresses.accounts),
};
/** records in each cell, by its name. */
const records = new Map(Object.entries({ "": addresses.records, ...cells }).map(([cell, address]) => [cell, recordsAt(address)]));
const cellOf = new Map<string, string>();
const brands = await seedBrands();
if (brands !== undefined) {
  const example = exampleBrand(brands);
  send({
    brands,
    pendingSubmission: example && (await findPendingSubmission(example.id)),
    signInUrl: example && linksTo !== null ? await createSignInUrl(linksTo, example.owner) : null,
  });
}
for (const client of [clients, ...records.values()].flatMap((each) => Object.values(each))) client.stop();

function recordsAt(address: string) {
  return { listing: connectRpc(RecordsServiceService, address), importing: connectRpc(ImportServiceService, address) };
}

function recordsOf(brandId: string): ReturnType<typeof recordsAt> {
  const found = records.get(cellOf.get(brandId) ?? "");
  if (found === undefined) throw new Error(`${brandId} is in another cell: npm start -- --cells 5`);
  return found;
}

/**
 * Creates the demo brands, their keys and their records, each only if it does not exist yet. The next start continues after
 * an interruption; a restart changes nothing.
 *
 * @returns undefined if it was interrupted
 */
async function seedBrands(): Promise<RunBrand[] | undefined> {
  // Only live keys may prepare plans.
  const plannerPermissions = environment === "live" ? ["campaigns:prepare"] : [];
  const kept = new Map(((readJson(file) as RunBrand[] | undefined) ?? []).map((brand) => [brand.id, brand]));
  for (const demo of DEMO_BRANDS) {
    if (isInterrupted) return undefined;
    const created_at = await provision(demo);
    const known = kept.get(demo.id)?.keys;
    const keys = {
      reporting: await keepOrCreateKey(demo, "Reporting", [], known?.reporting),
      planner: await keepOrCreateKey(demo, "Planner", plannerPermissions, known?.planner),
    };
    kept.set(demo.id, { id: demo.id, name: demo.name, tier: demo.tier, owner: demo.ownerEmail, keys });
    writeJson(file, [...kept.values()]);
    await importMissing(demo, Date.parse(created_at));
  }
  return DEMO_BRANDS.flatMap(({ id }) => kept.get(id) ?? []);
}

async function findPendingSubmission(brandId: string): Promise<string | undefined> {
  const { data } = await recordsOf(brandId).listing.listSubmissions({ brand_id: brandId, limit: 200, cursor: null, since: null }, step());
  return data.find(({ status }) => status === "pending")?.id;
}

async function createSignInUrl(consoleUrl: string, email: string): Promise<string> {
  const { token } = await clients.signIn.createSignInLink({ email, ttl_seconds: LINK_SECONDS }, step());
  return `${consoleUrl}/sign-in#${token}`;
}

async function provision({ id, name, tier, ownerEmail }: DemoBrand): Promise<string> {
  const cell = id === DEMO_BRANDS[1]?.id ? Object.keys(cells)[0] : undefined;
  const { brand } = await clients.accounts.createBrand({ id, name, tier, verified: true, cell }, step());
  if (brand == null) throw new Error("createBrand returned no brand");
  cellOf.set(id, brand.cell ?? "");
  const database = brand.cell == null ? undefined : cell_databases[brand.cell];
  if (database !== undefined) await onConnection(database, (client) => client.query("select records.become_cell(array[$1])", [id]));
  await clients.accounts.addMember({ brand_id: id, email: ownerEmail, role: "owner" }, step());
  return brand.created_at;
}

async function keepOrCreateKey(demo: DemoBrand, name: string, permissions: string[], known: string | undefined): Promise<string> {
  if (known !== undefined && (await isValid(known))) return known;
  const request = { brand_id: demo.id, name, environment, permissions, created_by: demo.ownerEmail };
  return (await clients.accounts.createKey(request, step())).secret;
}

async function isValid(key: string): Promise<boolean> {
  try {
    await clients.verification.verifyKey({ key_sha256: keyDigest(key) }, step());
    return true;
  } catch (error) {
    if (error instanceof Error && "kind" in error && error.kind === "invalid_key") return false;
    throw error;
  }
}

async function importMissing(demo: DemoBrand, now: number): Promise<void> {
  // Dates are relative to the brand's creation: records that a later start generates fit those of an interrupted one.
  const generated = generateBrand({ brandId: demo.id, seed: SEED, now, sizes: demo.sizes });
  for (const resource of DEMO_RESOURCES) {
    if (await hasRecords(demo.id, resource)) continue;
    send(`${demo.name}: ${demo.sizes[resource].toLocaleString("en")} ${resource}`);
    const { summary, problems } = await importRecords(
      recordsOf(demo.id).importing,
      { brandId: demo.id, resource, skipBad: false },
      lines(generated[resource]()),
    );
    if (!summary.committed) throw new Error(`the demo's ${resource} were refused: ${JSON.stringify(problems[0])}`);
  }
}

async function hasRecords(brandId: string, resource: DemoResource): Promise<boolean> {
  const request = { brand_id: brandId, limit: 1, cursor: null, since: null };
  return (await recordsOf(brandId).listing[listMethod(resource)](request, step())).data.length > 0;
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}

function step(): CallContext {
  return newCallContext(STEP_DEADLINE_MS, "demo");
}
