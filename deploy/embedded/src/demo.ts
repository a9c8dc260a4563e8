import { keyDigest } from "@brand-records/ids";
import { importRecords } from "@brand-records/brandctl";
import { DEMO_BRANDS, DEMO_RESOURCES, generateBrand, type DemoResource } from "@brand-records/demo-data";
import { AccountsServiceService, SignInServiceService, VerificationServiceService } from "@brand-records/proto/accounts/v1";
import { ImportServiceService, RecordsServiceService } from "@brand-records/proto/records/v1";
import { listMethod } from "@brand-records/resources";
import { connectRpc, newCallContext, type CallContext, type RpcClient } from "@brand-records/rpc";
import type { RunBrand } from "./run-file.ts";

const SEED = 1;
const STEP_DEADLINE_MS = 120_000;
const LINK_SECONDS = 24 * 3_600;

type DemoBrand = (typeof DEMO_BRANDS)[number];

interface Clients {
  readonly accounts: RpcClient<AccountsServiceService>;
  readonly verification: RpcClient<VerificationServiceService>;
  readonly records: RpcClient<RecordsServiceService>;
  readonly importing: RpcClient<ImportServiceService>;
}

interface DemoParts {
  readonly addresses: { readonly accounts: string; readonly records: string };
  /** The environment of the keys. */
  readonly environment: "live" | "test";
  /** Brands of earlier runs. Their keys are kept while they are valid. */
  readonly known: readonly RunBrand[];
  /** Called as soon as a brand has its keys, which accounts shows only once. */
  save(brands: readonly RunBrand[]): void;
  progress(text: string): void;
  readonly signal: AbortSignal;
}

/**
 * Creates the demo brands, their keys and their records, each only if it does not exist yet. The next start continues after
 * an interruption; a restart changes nothing.
 */
export async function seedDemo({ addresses, environment, known, save, progress, signal }: DemoParts): Promise<RunBrand[]> {
  const clients: Clients = {
    accounts: connectRpc(AccountsServiceService, addresses.accounts),
    verification: connectRpc(VerificationServiceService, addresses.accounts),
    records: connectRpc(RecordsServiceService, addresses.records),
    importing: connectRpc(ImportServiceService, addresses.records),
  };
  try {
    // Only live keys may prepare plans.
    const plannerPermissions = environment === "live" ? ["campaigns:prepare"] : [];
    const brands = new Map(known.map((brand) => [brand.id, brand]));
    for (const demo of DEMO_BRANDS) {
      signal.throwIfAborted();
      const created_at = await provision(clients, demo);
      const known = brands.get(demo.id)?.keys;
      const keys = {
        reporting: await keepOrCreateKey(clients, { demo, environment, name: "Reporting", permissions: [] }, known?.reporting),
        planner: await keepOrCreateKey(clients, { demo, environment, name: "Planner", permissions: plannerPermissions }, known?.planner),
      };
      brands.set(demo.id, { id: demo.id, name: demo.name, tier: demo.tier, owner: demo.ownerEmail, keys });
      save([...brands.values()]);
      await importMissing(clients, demo, Date.parse(created_at), progress);
    }
    return DEMO_BRANDS.flatMap(({ id }) => brands.get(id) ?? []);
  } finally {
    for (const client of Object.values(clients)) (client as { stop(): void }).stop();
  }
}

/** Finds a pending submission among the brand's 200 newest. */
export async function findPendingSubmission(recordsAddress: string, brandId: string): Promise<string | undefined> {
  const records = connectRpc(RecordsServiceService, recordsAddress);
  try {
    const { data } = await records.listSubmissions({ brand_id: brandId, limit: 200, cursor: null, since: null }, step());
    return data.find(({ status }) => status === "pending")?.id;
  } finally {
    records.stop();
  }
}

/**
 * Creates a link that signs a person in to the console once, within 24 hours.
 *
 * @param consoleUrl without a trailing slash
 */
export async function createSignInUrl(accountsAddress: string, consoleUrl: string, email: string): Promise<string> {
  const signIn = connectRpc(SignInServiceService, accountsAddress);
  try {
    const { token } = await signIn.createSignInLink({ email, ttl_seconds: LINK_SECONDS }, step());
    return `${consoleUrl}/sign-in#${token}`;
  } finally {
    signIn.stop();
  }
}

async function provision({ accounts }: Clients, { id, name, tier, ownerEmail }: DemoBrand): Promise<string> {
  const { brand } = await accounts.createBrand({ id, name, tier, verified: true }, step());
  if (brand == null) throw new Error("createBrand returned no brand");
  await accounts.addMember({ brand_id: id, email: ownerEmail, role: "owner" }, step());
  return brand.created_at;
}

interface DemoKey {
  readonly demo: DemoBrand;
  readonly environment: "live" | "test";
  readonly name: string;
  readonly permissions: string[];
}

async function keepOrCreateKey({ accounts, verification }: Clients, key: DemoKey, known: string | undefined): Promise<string> {
  if (known !== undefined && (await isValid(verification, known))) return known;
  const { demo, environment, name, permissions } = key;
  const request = { brand_id: demo.id, name, environment, permissions, created_by: demo.ownerEmail };
  return (await accounts.createKey(request, step())).secret;
}

async function isValid(verification: Clients["verification"], key: string): Promise<boolean> {
  try {
    await verification.verifyKey({ key_sha256: keyDigest(key) }, step());
    return true;
  } catch (error) {
    if (error instanceof Error && "kind" in error && error.kind === "invalid_key") return false;
    throw error;
  }
}

async function importMissing(clients: Clients, demo: DemoBrand, now: number, progress: (text: string) => void): Promise<void> {
  // Dates are relative to the brand's creation: records that a later start generates fit those of an interrupted one.
  const generated = generateBrand({ brandId: demo.id, seed: SEED, now, sizes: demo.sizes });
  for (const resource of DEMO_RESOURCES) {
    if (await hasRecords(clients.records, demo.id, resource)) continue;
    progress(`${demo.name}: ${demo.sizes[resource].toLocaleString("en")} ${resource}`);
    const { summary, problems } = await importRecords(
      clients.importing,
      { brandId: demo.id, resource, skipBad: false },
      lines(generated[resource]()),
    );
    if (!summary.committed) throw new Error(`the demo's ${resource} were refused: ${JSON.stringify(problems[0])}`);
  }
}

async function hasRecords(records: Clients["records"], brandId: string, resource: DemoResource): Promise<boolean> {
  const request = { brand_id: brandId, limit: 1, cursor: null, since: null };
  return (await records[listMethod(resource)](request, step())).data.length > 0;
}

function* lines(records: Iterable<object>): Generator<string> {
  for (const record of records) yield JSON.stringify(record);
}

const step = (): CallContext => newCallContext(STEP_DEADLINE_MS, "demo");
