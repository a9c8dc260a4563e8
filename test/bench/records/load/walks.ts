import { BRANDS, campaignPrefix, externalId, recordsOf } from "../dataset.ts";
import { PAGE_LIMIT } from "../settings.ts";

/** Share of requests for a first page; the others follow a next_cursor. */
const FIRST_PAGE_SHARE = 0.25;

interface Visit {
  readonly brand: number;
  /** Number of the page, from 0. */
  readonly page: number;
  readonly cursor: string | undefined;
}

/**
 * The next page of every brand. Every brand gets a request before any gets its next, in random order, so that none of the
 * thousand brands comes near its rate limit.
 */
export class Walks {
  readonly #next: Visit[] = Array.from({ length: BRANDS }, (_, brand) => firstPage(brand));
  #order: number[] = [];

  /** Starts a new random order over all brands. */
  shuffle(): void {
    this.#order = shuffled(BRANDS);
  }

  next(): Visit {
    if (this.#order.length === 0) this.shuffle();
    const brand = this.#order.pop() ?? 0;
    return Math.random() < FIRST_PAGE_SHARE ? firstPage(brand) : (this.#next[brand] ?? firstPage(brand));
  }

  /** @throws Error unless the body is exactly that page of that brand */
  record(visit: Visit, body: string): void {
    const { brand, page } = visit;
    const cursor = checkPage(visit, body);
    // A copy: a substring keeps the whole response alive, 20 KB per cursor.
    this.#next[brand] = cursor === undefined ? firstPage(brand) : { brand, page: page + 1, cursor: Buffer.from(cursor).toString() };
  }
}

const firstPage = (brand: number): Visit => ({ brand, page: 0, cursor: undefined });

/** Checks the page as text, because parsing would cost the generator more than sending. Returns next_cursor. */
function checkPage({ brand, page }: Visit, body: string): string | undefined {
  const newestOrdinal = recordsOf(brand) - 1 - page * PAGE_LIMIT;
  const expected = Math.max(0, Math.min(PAGE_LIMIT, newestOrdinal + 1));
  const problem = (what: string): Error => new Error(`page ${page} of brand ${brand}: ${what}, in ${body.slice(0, 300)}`);

  const [, count, cursor] =
    /^\{"resource":"conversions","count":(\d+)(?:,"next_cursor":"([\w-]+)")?,"data":\[/.exec(body.slice(0, 500)) ?? [];
  if (count !== String(expected)) throw problem(`not ${expected} conversions`);
  if (occurrences(body, '"campaign_id":"') !== expected) throw problem(`count is not the number of records`);
  if (occurrences(body, `"campaign_id":"${campaignPrefix(brand)}`) !== expected) throw problem("records of another brand");
  const first = body.indexOf('"external_id":"');
  if (expected > 0 && !body.startsWith(`"external_id":"${externalId(newestOrdinal)}"`, first)) throw problem("begins with another record");

  if ((cursor !== undefined) !== (expected === PAGE_LIMIT)) throw problem("next_cursor must be present if and only if the page is full");
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
