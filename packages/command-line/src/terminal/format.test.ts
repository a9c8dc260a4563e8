import { pesos } from "./format.ts";

describe("pesos", () => {
  it.each([
    [0, "PHP 0.00"],
    [1, "PHP 0.01"],
    [110, "PHP 1.10"],
    [123_450, "PHP 1,234.50"],
    [99_999_999_999, "PHP 999,999,999.99"],
    [100_000_000_000, "PHP 1,000,000,000.00"],
  ])("shows every one of %d centavos", (centavos, text) => expect(pesos(centavos)).toBe(text));
});
