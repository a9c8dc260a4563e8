import { PAGE_LIMIT } from "./settings.ts";
import { BRANDS } from "./dataset.ts";
import { HttpConnection } from "./load/http-connection.ts";
import { pathOf } from "./load/load-generator.ts";
import type { Variant } from "./variants.ts";

const BRANDS_COMPARED = [0, 1, 500, BRANDS - 1];
const PAGES_COMPARED = 2;

interface Page {
  readonly count: number;
  readonly data: readonly object[];
  readonly next_cursor?: string;
}

/**
 * What is compared has to be the same work: first pages and the pages after them, byte for byte.
 *
 * @throws Error naming the variants that differ
 */
export async function requireSameAnswers(variants: readonly Variant[], keys: readonly string[]): Promise<void> {
  const connections = await Promise.all(variants.map(({ port }) => HttpConnection.open(port)));
  try {
    for (const brand of BRANDS_COMPARED) {
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_COMPARED; page += 1) {
        const bodies = await Promise.all(
          variants.map(({ name }, index) => bodyOf(connections[index], pathOf(name, { brand, cursor }), keys[brand])),
        );
        cursor = requireSame(variants, bodies, `page ${page} of brand ${brand}`);
      }
    }
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function bodyOf(connection: HttpConnection | undefined, path: string, key: string | undefined): Promise<string> {
  const answer = await connection?.get(path, `Bearer ${key}`);
  if (answer?.status !== 200) throw new Error(`GET ${path} was answered:\n${answer?.head}\n\n${answer?.body}`);
  return answer.body;
}

/** Answers the page's next_cursor. */
function requireSame(variants: readonly Variant[], bodies: readonly string[], what: string): string | undefined {
  const [first = ""] = bodies;
  bodies.forEach((body, index) => {
    if (body === first) return;
    throw new Error(
      `${variants[index]?.name} and ${variants[0]?.name} answer ${what} differently:\n${body.slice(0, 800)}\n\n${first.slice(0, 800)}`,
    );
  });
  const { count, data, next_cursor } = JSON.parse(first) as Page;
  if (count !== PAGE_LIMIT || data.length !== count) throw new Error(`${what} has ${data.length} records, and says ${count}`);
  return next_cursor;
}
