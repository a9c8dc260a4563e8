import type { Statement } from "@brand-records/postgres";

/**
 * Names each statement after its key, in the traces and for Postgres, which prepares it under this name once in a connection:
 * `lockOne` of "lanes" is `lanes.lock_one`.
 */
export function statementsOf<Key extends string>(prefix: string, texts: Readonly<Record<Key, string>>): Readonly<Record<Key, Statement>> {
  const entries = Object.entries<string>(texts).map(([key, text]) => [key, { name: `${prefix}.${snakeCase(key)}`, text }]);
  return Object.fromEntries(entries) as Record<Key, Statement>;
}

const snakeCase = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

export const first = async <Row>(result: Promise<Row[]>): Promise<Row | undefined> => (await result)[0];

export const isFound = async (result: Promise<unknown[]>): Promise<boolean> => (await result).length > 0;
