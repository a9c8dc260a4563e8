import { AppError } from "@brand-records/errors";
import { CommandFailure } from "../failure.ts";
import type { Session } from "../session.ts";

/**
 * Records can be imported for any brand id, so a mistyped one would put them where nobody reads them. Asks accounts, unless
 * nothing says where that is.
 *
 * @throws CommandFailure when there is no such brand
 */
export async function requireBrand(session: Session, brandId: string): Promise<void> {
  if (session.endpoints.find("accounts") === undefined) return;
  try {
    await (await session.accounts()).getBrand({ brand_id: brandId });
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== "not_found") throw error;
    throw new CommandFailure("not_found", `There is no brand ${brandId}. Nothing was imported.`, {
      hint: "brandctl brands list shows the brands; brandctl brands create makes one",
    });
  }
}
