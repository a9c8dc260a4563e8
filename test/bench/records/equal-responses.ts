import { PAGE_LIMIT } from "./settings.ts";
import { BRANDS } from "./dataset.ts";
import { DIALECTS, type PageRequest } from "./load/dialects.ts";
import { HttpConnection } from "./load/http-connection.ts";
import type { VariantName } from "./load/start-load.ts";
import type { Variant } from "./variants.ts";

const BRANDS_COMPARED = [0, 1, BRANDS / 2, BRANDS - 1];
const PAGES_COMPARED = 2;

interface Page {
  readonly count: number;
  readonly data: readonly object[];
  readonly next_cursor?: string;
}

/**
 * Checks that all variants do the same work: first and second pages must be equal byte for byte, wherever a response
 * contains them.
 *
 * @throws Error that names two variants that differ
 */
export async function requireEqualResponses(variants: readonly Variant[], keys: readonly string[]): Promise<void> {
  const connections = await Promise.all(variants.map(({ port }) => HttpConnection.open(port)));
  try {
    for (const brand of BRANDS_COMPARED) {
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_COMPARED; page += 1) {
        const copies = await Promise.all(
          variants.map(({ name }, index) => copiesOf(name, connections[index], { brand, cursor }, keys[brand] ?? "")),
        );
        cursor = requireEqual(copies.flat(), `page ${page} of brand ${brand}`);
      }
    }
  } finally {
    for (const connection of connections) connection.close();
  }
}

interface Copy {
  readonly variant: VariantName;
  readonly text: string;
}

async function copiesOf(variant: VariantName, connection: HttpConnection | undefined, page: PageRequest, key: string): Promise<Copy[]> {
  const { request, copiesIn } = DIALECTS[variant];
  const response = await connection?.send(request(page, key));
  if (response?.status !== 200) throw new Error(`${variant} responded:\n${response?.head}\n\n${response?.body}`);
  return copiesIn(response.body).map((text) => ({ variant, text }));
}

/** Returns the page's next_cursor. */
function requireEqual(copies: readonly Copy[], what: string): string | undefined {
  const [first] = copies;
  if (first === undefined) throw new Error(`no response contains ${what}`);
  for (const other of copies) {
    if (other.text === first.text) continue;
    const from = Math.max(0, firstDifference(other.text, first.text) - 100);
    const excerpt = ({ variant, text }: Copy): string => `${variant}, from ${from}: ${text.slice(from, from + 400)}`;
    throw new Error(`variants differ in ${what}\n${excerpt(first)}\n${excerpt(other)}`);
  }
  const { count, data, next_cursor } = JSON.parse(first.text) as Page;
  if (count !== PAGE_LIMIT || data.length !== count) throw new Error(`${what} has ${data.length} records, but count ${count}`);
  return next_cursor;
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
