import pg from "pg";

const { builtins } = pg.types;

/** Converts the text of a timestamptz in UTC, `2026-11-21 08:30:00.12+00`, to `2026-11-21T08:30:00.120Z`. */
export function rfc3339FromPostgres(text: string): string {
  const whole = `${text.slice(0, 10)}T${text.slice(11, 19)}`;
  if (text.charCodeAt(19) !== 46 /* . */) return `${whole}.000Z`;
  const fraction = text.slice(20, text.indexOf("+", 20));
  return `${whole}.${fraction.length === 3 ? fraction : fraction.padEnd(3, "0").slice(0, 3)}Z`;
}

const PARSERS: Partial<Record<number, (text: string) => unknown>> = {
  // Dates are slow to create and format, and no code calculates with them.
  [builtins.TIMESTAMPTZ]: rfc3339FromPostgres,
  // Centavos, counts and epochs stay below 2^53.
  [builtins.INT8]: Number,
};

export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    (format !== "binary" ? PARSERS[oid] : undefined) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
};
