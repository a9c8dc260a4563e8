import { isObject } from "./attempt.ts";
import type { FiltersOf, RecordOf, ResourceName } from "./generated/api.ts";
import type { ListOptions } from "./options.ts";
import type { ResponseMeta } from "./response-meta.ts";
import type { ExpectedBrand, Transport } from "./transport.ts";

const LIMIT_MAX = 200;

/** One page of a list, newest record first. */
export interface Page<Item> {
  /** The records, as the service sent them: fields and values that this version does not know are kept. */
  readonly data: Item[];
  /** Where the next page starts; undefined on the last. It does not expire, and holds for any key of the brand. */
  readonly nextCursor: string | undefined;
  readonly meta: ResponseMeta;
}

export interface ListRequest {
  readonly resource: ResourceName;
  readonly filters: FiltersOf[ResourceName];
  readonly options: ListOptions;
}

/**
 * A list of records. It requests nothing until it is read: all of it with `for await`, page by page with `pages()`, or one `page()`.
 *
 * A walk has every record that existed when it began once, whatever is created meanwhile.
 */
export class RecordList<Name extends ResourceName> implements AsyncIterable<RecordOf[Name]> {
  readonly #transport: Transport;
  readonly #request: ListRequest;
  readonly #expectBrand: ExpectedBrand;

  constructor(transport: Transport, request: ListRequest, expectBrand: ExpectedBrand) {
    this.#transport = transport;
    this.#request = request;
    this.#expectBrand = expectBrand;
  }

  /** Reads the first page, or the one at `cursor`. */
  page(): Promise<Page<RecordOf[Name]>> {
    return this.#readPage(this.#request.options.cursor, this.#expectBrand);
  }

  /** Reads page after page, to the last. All are of one brand, also if the key is replaced by another brand's. */
  async *pages(): AsyncGenerator<Page<RecordOf[Name]>, void, undefined> {
    let cursor = this.#request.options.cursor;
    let brand = this.#expectBrand;
    do {
      const page = await this.#readPage(cursor, brand);
      yield page;
      cursor = page.nextCursor;
      brand ??= page.meta.brandId;
    } while (cursor !== undefined);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RecordOf[Name], void, undefined> {
    for await (const { data } of this.pages()) yield* data;
  }

  async #readPage(cursor: string | undefined, brand: ExpectedBrand): Promise<Page<RecordOf[Name]>> {
    const { resource, options } = this.#request;
    const request = { method: "GET", path: `/api/v1/${resource}?${this.#query(cursor)}`, isWhole: isPageOf(resource) } as const;
    const { body, meta } = await this.#transport.send(request, options, brand);
    const { data, next_cursor } = body as { data: RecordOf[Name][]; next_cursor?: string };
    return { data, nextCursor: next_cursor, meta };
  }

  #query(cursor: string | undefined): string {
    const { filters, options } = this.#request;
    const query = new URLSearchParams({ limit: String(options.limit ?? LIMIT_MAX) });
    for (const [name, value] of Object.entries({ ...filters, cursor })) {
      if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : value);
    }
    return query.toString();
  }
}

const isPageOf = (resource: ResourceName) => (body: unknown) =>
  isObject(body) && body["resource"] === resource && Array.isArray(body["data"]);
