import type { Filters, RecordOf, ResourceName } from "@brand-records/resources";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { post, request, toolCall } from "../mcp.ts";

/** As the tools advise to walk with `fields`. */
const PAGE = 200;

/** Calls after which an assistant asks first. */
export const CALLS_MAX = 5;

type PickedRecord<Name extends ResourceName, Field> = Pick<RecordOf<Name>, Extract<keyof RecordOf<Name>, Field | "id">>;

interface ListResult<Picked> {
  readonly data: Picked[];
  readonly next_cursor?: string;
}

/** What a model reads of a tool before it calls it. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

/** The question takes more than CALLS_MAX calls: the assistant tells its user so, and what it would take. */
export class AsksFirst extends Error {}

/** Reads records over the endpoint alone, as a model would that makes no mistake, and counts what that takes. */
export class Assistant {
  readonly #url: string;
  readonly #key: string;
  /** The resource of each call. */
  readonly calls: ResourceName[] = [];
  /** What a model reads: the text of each result. */
  tokens = 0;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** What a model reads before its first call: tools always, instructions in about half of the clients. */
  async connect(): Promise<{ readonly instructions: string; readonly tools: readonly Tool[] }> {
    const opened = await post(this.#url, this.#key, request("legacy", "initialize", { protocolVersion: "2025-11-25" }));
    const listed = await post(this.#url, this.#key, request("legacy", "tools/list"));
    return { instructions: opened.body.result.instructions, tools: listed.body.result.tools as readonly Tool[] };
  }

  /**
   * Reads these fields of every record that the filters select, page by page.
   *
   * @throws AsksFirst
   */
  async list<Name extends ResourceName, Field extends keyof RecordOf<Name>>(
    resource: Name,
    filters: Filters,
    fields: readonly Field[],
  ): Promise<PickedRecord<Name, Field>[]> {
    const records: PickedRecord<Name, Field>[] = [];
    let cursor: string | undefined;
    do {
      const args = { ...filters, fields, limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await this.#call<PickedRecord<Name, Field>>(resource, args);
      records.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return records;
  }

  /** The id of the newest campaign that people call by this title. */
  async campaign(title: string): Promise<string> {
    const found = (await this.list("campaigns", {}, ["title"])).find((campaign) => campaign.title === title);
    if (found === undefined) throw new Error(`no campaign has the title ${title}`);
    return found.id;
  }

  async #call<Picked>(resource: ResourceName, args: object): Promise<ListResult<Picked>> {
    if (this.calls.length === CALLS_MAX) throw new AsksFirst();
    const { body } = await post(this.#url, this.#key, toolCall("legacy", `list_${resource}`, args));
    const text = body.result.content[0]?.text ?? "";
    if (body.result.isError) throw new Error(`list_${resource} refused ${JSON.stringify(args)}: ${text}`);
    this.calls.push(resource);
    this.tokens += countTokens(text);
    return JSON.parse(text) as ListResult<Picked>;
  }
}
