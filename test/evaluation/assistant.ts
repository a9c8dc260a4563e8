import type { RecordOf, ResourceName } from "@brand-records/resources";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { post, request, toolCall } from "../mcp.ts";

/** As the tools advise to walk. */
const PAGE = 100;

/** The optional arguments of a list, except those of a walk. */
export interface Filters {
  readonly id?: string;
  readonly campaign_id?: string;
  readonly link_id?: string;
  readonly status?: string;
  readonly created_from?: string;
  readonly created_before?: string;
}

interface ListResult<Name extends ResourceName> {
  readonly data: RecordOf<Name>[];
  readonly next_cursor?: string;
}

/** Reads records over the endpoint alone, as a model would that makes no mistake, and counts what that takes. */
export class Assistant {
  readonly #url: string;
  readonly #key: string;
  /** The tool of each call. */
  readonly tools: string[] = [];
  /** What a model reads: the text of each result. */
  tokens = 0;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** What a model reads before its first call. */
  async connect(): Promise<{ readonly instructions: string; readonly tools: unknown }> {
    const opened = await post(this.#url, this.#key, request("legacy", "initialize", { protocolVersion: "2025-11-25" }));
    const listed = await post(this.#url, this.#key, request("legacy", "tools/list"));
    return { instructions: opened.body.result.instructions, tools: listed.body.result.tools };
  }

  /** Reads every record that the filters select, page by page. */
  async list<Name extends ResourceName>(resource: Name, filters: Filters = {}): Promise<RecordOf<Name>[]> {
    const records: RecordOf<Name>[] = [];
    let cursor: string | undefined;
    do {
      const page: ListResult<Name> = await this.#call(resource, { ...filters, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      records.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return records;
  }

  /** The campaign that people call by this title. */
  async campaign(title: string): Promise<RecordOf<"campaigns">> {
    const found = (await this.list("campaigns")).filter((campaign) => campaign.title === title);
    if (found.length !== 1) throw new Error(`${found.length} campaigns have the title ${title}`);
    return found[0] as RecordOf<"campaigns">;
  }

  async #call<Name extends ResourceName>(resource: Name, args: object): Promise<ListResult<Name>> {
    const tool = `list_${resource}`;
    const { body } = await post(this.#url, this.#key, toolCall("legacy", tool, args));
    const text = body.result.content[0]?.text ?? "";
    if (body.result.isError) throw new Error(`${tool} refused ${JSON.stringify(args)}: ${text}`);
    this.tools.push(tool);
    this.tokens += countTokens(text);
    return JSON.parse(text) as ListResult<Name>;
  }
}
