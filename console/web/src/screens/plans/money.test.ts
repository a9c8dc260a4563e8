import { centavosOf, pesosText } from "./money.ts";

it.each([
  ["75000.5", 7_500_050],
  ["75,000.50", 7_500_050],
  ["1,234,567.50", 123_456_750],
  ["₱ 5000", 500_000],
  ["₱5,000.00", 500_000],
  ["PHP 5,000", 500_000],
  ["5,000 php", 500_000],
  ["  5 000 000\u00A0", 500_000_000],
  ["５，０００", 500_000],
  ["5000.", 500_000],
  ["0.01", 1],
  ["0.29", 29],
  ["1,000,000,000", 100_000_000_000],
])("%j is %i centavos", (typed, centavos) => {
  expect(centavosOf(typed)).toBe(centavos);
});

it.each([
  "",
  "0",
  "0.00",
  "-5",
  "5,00",
  "50,00.00",
  "1.234.567,50",
  "1,2345",
  "5.005",
  "1e5",
  "0x10",
  "five",
  "₱",
  "5-6",
  "5 USD",
  "$5",
  "1000000000.01",
  "9".repeat(400),
])("%j is no budget", (typed) => {
  expect(centavosOf(typed)).toBeUndefined();
});

it.each([1, 29, 100, 7_500_050, 123_456_705, 99_999_999_999, 100_000_000_000])(
  "%i centavos are shown as text that means them",
  (centavos) => {
    expect(centavosOf(pesosText(centavos))).toBe(centavos);
  },
);

it("groups thousands, and leaves out centavos that are none", () => {
  expect([7_500_050, 7_500_000, 123_456_705].map(pesosText)).toEqual(["75,000.50", "75,000", "1,234,567.05"]);
});
