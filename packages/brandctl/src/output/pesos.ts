const FORMAT = { minimumFractionDigits: 2, maximumFractionDigits: 2 } as const;

/** `PHP 1,234.50` for 123450 centavos, with every centavo. */
export function pesos(centavos: number): string {
  return `PHP ${(centavos / 100).toLocaleString("en", FORMAT)}`;
}
