import { PLAN_LIMITS } from "@brand-records/resources/plan-limits";

const CENTAVOS_MAX = PLAN_LIMITS.budgetPesos * 100;
/** Digits, perhaps in groups of three, and up to two decimals. A comma before two digits is no group: its meaning would be a guess. */
const AMOUNT = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d{0,2}))?$/;
const SIGN = /^(?:₱|php|p)|(?:₱|php)$/gi;

/**
 * Returns the centavos of an amount in pesos as people type or paste it: "75,000.50", "₱ 5000", "PHP 1,234,567". Exact: no fraction is
 * computed.
 *
 * @returns undefined if it is no amount, or not above 0, or above the limit
 */
export function centavosOf(typed: string): number | undefined {
  // Full-width digits and signs in their usual form. Spaces of any kind may group digits.
  const text = typed.normalize("NFKC").replaceAll(/\s/g, "").replaceAll(SIGN, "");
  const [, pesos, decimals = ""] = AMOUNT.exec(text) ?? [];
  if (pesos === undefined) return undefined;
  const centavos = Number(pesos.replaceAll(",", "") + decimals.padEnd(2, "0"));
  return centavos > 0 && centavos <= CENTAVOS_MAX ? centavos : undefined;
}

/** An amount as the field shows it: "75,000.50", "75,000". */
export function pesosText(centavos: number): string {
  const [pesos, decimals] = [Math.floor(centavos / 100), centavos % 100];
  return pesos.toLocaleString("en") + (decimals === 0 ? "" : `.${String(decimals).padStart(2, "0")}`);
}
