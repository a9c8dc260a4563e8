import { countCharacters } from "@brand-records/resources/plan-limits";

/** Share of the limit from which on the count shows. */
const NEAR = 0.8;

const number = (count: number): string => count.toLocaleString("en");

/** How much of a limit a text takes: "1,850 of 2,000 characters". Undefined while it is far from it. */
export function characterCount(text: string, max: number): string | undefined {
  const count = countCharacters(text);
  if (count > max) return `${number(count)} of ${number(max)} characters: ${number(count - max)} too many`;
  return count >= max * NEAR ? `${number(count)} of ${number(max)} characters` : undefined;
}
