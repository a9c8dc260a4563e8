import { AppError } from "@brand-records/errors";
import type { Session } from "../session.ts";

/**
 * What to say of a list without anything in it. The webhook service answers one for brands there are not, too: accounts is
 * asked, unless nothing says where it is.
 *
 * @param none such as "The brand has no events."
 * @throws AppError `not_found` when there is no such brand
 */
export async function whyNone(session: Session, brandId: string, none: string): Promise<string> {
  const unsure = `${none} Is the id right? See brandctl brands list`;
  if (session.endpoints.find("accounts") === undefined) return unsure;
  try {
    await (await session.accounts()).getBrand({ brand_id: brandId });
    return none;
  } catch (error) {
    if (error instanceof AppError && error.kind === "not_found") throw error;
    // The list is right all the same.
    return unsure;
  }
}
