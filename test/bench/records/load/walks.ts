import { BRANDS, campaignPrefix, externalId, recordsOf } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";

/** Of all requests; the others follow a next_cursor. */
const FIRST_PAGE_SHARE = 0.25;

export interface Visit {
  readonly brand: number;
  /** From 0. */
  readonly page: number;
  readonly cursor: string | undefined;
}

/**
 * A walk through the pages of every brand. Every brand gets a request before any gets its next, in random order: spread
 * this evenly over a thousand brands nobody comes near the rate limit.
 */
export class Walks {
  readonly #next: Visit[] = Array.from({ length: BRANDS }, (_, brand) => firstPage(brand));
  #order: number[] = [];

  /** From here on every brand gets a request before any gets its next. */
  shuffle(): void {
    this.#order = shuffled(BRANDS);
  }

  next(): Visit {
    if (this.#order.length === 0) this.shuffle();
    const brand = this.#order.pop() ?? 0;
    return Math.random() < FIRST_PAGE_SHARE ? firstPage(brand) : (this.#next[brand] ?? firstPage(brand));
  }

  /** @throws Error unless the body is exactly that page of that brand */
  answered(visit: Visit, body: string): void {
    const { brand, page } = visit;
    const cursor = checkPage(visit, body);
    // A copy: a part of a string keeps the whole of it alive, 20 KB for each cursor.
    this.#next[brand] = cursor === undefined ? firstPage(brand) : { brand, page: page + 1, cursor: Buffer.from(cursor).toString() };
  }
}

const firstPage = (brand: number): Visit => ({ brand, page: 0, cursor: undefined });

/** Looked at as text: parsing would cost the generator more than sending does. Answers next_cursor. */
function checkPage({ brand, page }: Visit, body: string): string | undefined {
  const newestOrdinal = recordsOf(brand) - 1 - page * PAGE_LIMIT;
  const expected = Math.max(0, Math.min(PAGE_LIMIT, newestOrdinal + 1));
  const problem = (what: string): Error => new Error(`page ${page} of brand ${brand}: ${what}, in ${body.slice(0, 300)}`);

  if (!body.startsWith(`{"resource":"conversions","count":${expected},"data":[`)) throw problem(`not ${expected} conversions`);
  if (occurrences(body, '"campaign_id":"') !== expected) throw problem(`count is not the number of records`);
  if (occurrences(body, `"campaign_id":"${campaignPrefix(brand)}`) !== expected) throw problem("records of another brand");
  const first = body.indexOf('"external_id":"');
  if (expected > 0 && !body.startsWith(`"external_id":"${externalId(newestOrdinal)}"`, first))
    throw problem("does not begin where it should");

  const [, cursor] = /\],"next_cursor":"([\w-]+)"\}$/.exec(body.slice(-400)) ?? [];
  if ((cursor !== undefined) !== (expected === PAGE_LIMIT)) throw problem("next_cursor must be there if and only if the page is full");
  return cursor;
}

function occurrences(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

function shuffled(length: number): number[] {
  const numbers = Array.from({ length }, (_, index) => index);
  for (let last = length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [numbers[last], numbers[other]] = [numbers[other] as number, numbers[last] as number];
  }
  return numbers;
}
