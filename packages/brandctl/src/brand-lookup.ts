import { AppError } from "@brand-records/errors";
import { CommandFailure, UsageFailure } from "./failure.ts";
import type { Session } from "./session.ts";

/** What a command names by its id alone, and the service that knows its brand. */
const KINDS = {
  key: { prefix: "key_", service: "accounts" },
  plan: { prefix: "pln_", service: "plans" },
  receiver: { prefix: "rcv_", service: "webhook" },
  delivery: { prefix: "dlv_", service: "webhook" },
} as const;

export type IdKind = keyof typeof KINDS;

/** @param option the value of `--brand`; without it the setting BRAND counts. @throws UsageFailure without either */
export function namedBrand({ terminal }: Session, option: string | undefined): string {
  const brand = option ?? terminal.env["BRAND"];
  if (brand) return brand;
  throw new UsageFailure("The brand is missing: name it with --brand, or set BRAND.", "brandctl brands list shows the brands");
}

/**
 * Returns the brand that a key, plan, receiver or delivery belongs to. BRAND does not count here: the id says more.
 *
 * @param option the value of `--brand`, returned unchecked: the call that follows finds nothing under another brand
 * @throws CommandFailure `invalid_request` for an id of another kind; AppError `not_found` when no brand has the id
 */
export async function brandOf(session: Session, kind: IdKind, id: string, option: string | undefined): Promise<string> {
  const { prefix, service } = KINDS[kind];
  if (!id.startsWith(prefix)) throw wrongKind(kind, id);
  if (option !== undefined) return namedBrand(session, option);
  try {
    return (await (await session.operator(service)).findBrand({ id })).brand_id;
  } catch (error) {
    throw error instanceof AppError && error.kind === "not_found" ? noneOfThisId(kind, error) : error;
  }
}

/** `brandOf` for a call that takes no brand: `--brand` must name the one that is found. */
export async function checkedBrandOf(session: Session, kind: IdKind, id: string, option: string | undefined): Promise<string> {
  const brandId = await brandOf(session, kind, id, undefined);
  if (option !== undefined && option !== brandId) throw noneOfThisId(kind);
  return brandId;
}

function wrongKind(kind: IdKind, id: string): CommandFailure {
  const actual = (Object.keys(KINDS) as IdKind[]).find((other) => id.startsWith(KINDS[other].prefix));
  const hint = actual === undefined ? undefined : `It is the id of a ${actual}.`;
  return new CommandFailure("invalid_request", `The id of a ${kind} begins with ${KINDS[kind].prefix}, and ${id} does not.`, { hint });
}

const noneOfThisId = (kind: IdKind, cause?: AppError): AppError =>
  new AppError("not_found", `There is no ${kind} with this id`, { field: `${kind}_id`, cause });

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
    return (await brandExists(session, brandId)) === undefined ? unsure : text;
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
 * @throws CommandFailure when there is no such brand
 */
export async function requireBrand(session: Session, brandId: string): Promise<void> {
  try {
    await brandExists(session, brandId);
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
    throw new CommandFailure("not_found", `There is no brand ${brandId}. Nothing was imported.`, {
      hint: "brandctl brands list shows the brands; brandctl brands create makes one",
    });
  }
}

/** Undefined where the address of accounts is not known. @throws AppError `not_found` when there is no such brand */
async function brandExists(session: Session, brandId: string): Promise<true | undefined> {
  if (session.endpoints.find("accounts") === undefined) return undefined;
  await (await session.accounts()).getBrand({ brand_id: brandId });
  return true;
}
