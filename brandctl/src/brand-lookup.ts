import { AppError } from "@brand-records/errors";
import type { Brand } from "@brand-records/proto/accounts/v1";
import { CommandFailure, required, UsageFailure } from "./failure.ts";
import { requireId } from "./ids.ts";
import type { Session } from "./session.ts";

/** What says its brand, and the client of the service that knows it. */
const CLIENTS = {
  key: "accounts.operator",
  plan: "plans.operator",
  receiver: "webhook.operator",
  delivery: "webhook.operator",
  event: "webhook.operator",
  replay: "webhook.operator",
} as const;

type BrandsKind = keyof typeof CLIENTS;

/**
 * @param option the value of `--brand`, checked; without it the setting BRAND counts
 * @throws UsageFailure without either, and if BRAND is not the id of a brand
 */
export function namedBrand({ terminal, ids }: Session, option: string | undefined): string {
  const brand = option ?? terminal.env["BRAND"];
  if (!brand) throw new UsageFailure("The brand is missing: name it with --brand, or set BRAND.", "brandctl brands list shows the brands");
  const brandId = option ?? requireId("BRAND", "brand", brand);
  ids.set("BRAND", brandId);
  return brandId;
}

/**
 * Returns the brand that a key, plan, receiver, delivery, event or replay belongs to. BRAND does not count here: the id says more.
 *
 * @param option the value of `--brand`, which must be that brand
 * @throws AppError `not_found` when no brand has the id, or another than `option`
 */
export async function brandOf(session: Session, kind: BrandsKind, id: string, option: string | undefined): Promise<string> {
  const brandId = await findBrand(session, kind, id);
  if (option !== undefined && option !== brandId) {
    throw new AppError("not_found", `The brand ${option} has no ${kind} with this id`, { field: `${kind}_id` });
  }
  session.ids.set("BRAND", brandId).set(kind.toUpperCase(), id);
  return brandId;
}

async function findBrand(session: Session, kind: BrandsKind, id: string): Promise<string> {
  try {
    return (await session.client(CLIENTS[kind]).findBrand({ id })).brand_id;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
    throw new AppError("not_found", `There is no ${kind} with this id`, { field: `${kind}_id`, cause: error });
  }
}

/**
 * Returns what to print for an empty list. Plans and webhook return one for unknown brands too, so accounts is called, if its
 * address is known.
 *
 * @param text such as "The brand has no events."
 * @throws AppError `not_found` when there is no such brand
 */
export async function emptyListText(session: Session, brandId: string, text: string): Promise<string> {
  const unsure = `${text} Is the id right? See brandctl brands list`;
  try {
    return (await findBrandOf(session, brandId)) === undefined ? unsure : text;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") throw error;
    // The list is right even if accounts is unavailable.
    return unsure;
  }
}

/**
 * Records can be imported for any brand id, so a mistyped id would put them where no key reads them. Calls accounts, if its
 * address is known.
 *
 * @returns the brand's cell; null: the one without a name, or none
 * @throws CommandFailure when there is no such brand
 */
export async function requireBrand(session: Session, brandId: string): Promise<string | null> {
  try {
    return (await findBrandOf(session, brandId))?.cell ?? null;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
    throw new CommandFailure("not_found", `There is no brand ${brandId}. Nothing was changed.`, {
      hint: "brandctl brands list shows the brands; brandctl brands create makes one",
    });
  }
}

/** Undefined where the address of accounts is not known. @throws AppError `not_found` when there is no such brand */
async function findBrandOf(session: Session, brandId: string): Promise<Brand | undefined> {
  if (session.endpoints.find("accounts") === undefined) return undefined;
  return required((await session.client("accounts").getBrand({ brand_id: brandId })).brand, "brand");
}
