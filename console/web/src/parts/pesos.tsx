import { numberFormat } from "./formats.ts";

const PESOS = numberFormat({ style: "currency", currency: "PHP" });

/** An amount of money. */
export function Pesos({ centavos }: { readonly centavos: number }) {
  return <data value={centavos}>{PESOS.format(centavos / 100)}</data>;
}
