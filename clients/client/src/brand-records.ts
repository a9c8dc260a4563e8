import type { FiltersOf, ResourceName } from "./generated/api.ts";
import type { CallOptions, ClientOptions, ListOptions } from "./options.ts";
import { preparePlan, type PlanInput, type PreparedPlan } from "./prepare-plan.ts";
import { RecordList } from "./record-list.ts";
import type { FinishedWalk, SyncStore } from "./sync/store.ts";
import { sync, type SyncOptions } from "./sync/sync.ts";
import { Transport } from "./transport.ts";

/** A method for each list, with its filters and records. */
type Lists = { [Name in ResourceName]: (filters?: FiltersOf[Name], options?: ListOptions) => RecordList<Name> };

/**
 * One brand's records, by one of its API keys.
 *
 *     const records = new BrandRecords({ url, key });
 *     for await (const submission of records.submissions({ status: "pending" })) …
 *
 * Requests wait out the brand's limit, and are repeated if they fail in passing, until their deadline. Money is in whole centavos.
 */
export class BrandRecords implements Lists {
  readonly #transport: Transport;
  readonly #expectBrand: string | undefined;

  /** @throws TypeError if `url` or `key` is none, or a time */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.#expectBrand = options.expectBrand;
  }

  /** Lists any resource, by its name. */
  list<Name extends ResourceName>(resource: Name, filters: FiltersOf[Name] = {}, options: ListOptions = {}): RecordList<Name> {
    return new RecordList(this.#transport, { resource, filters, options }, this.#expectBrand);
  }

  /** Campaigns that the brand runs with creators. */
  campaigns(filters: FiltersOf["campaigns"] = {}, options: ListOptions = {}): RecordList<"campaigns"> {
    return this.list("campaigns", filters, options);
  }

  /** Creators' content for campaigns. */
  submissions(filters: FiltersOf["submissions"] = {}, options: ListOptions = {}): RecordList<"submissions"> {
    return this.list("submissions", filters, options);
  }

  /** What creators are paid. */
  payouts(filters: FiltersOf["payouts"] = {}, options: ListOptions = {}): RecordList<"payouts"> {
    return this.list("payouts", filters, options);
  }

  /** What the brand paid in. */
  deposits(filters: FiltersOf["deposits"] = {}, options: ListOptions = {}): RecordList<"deposits"> {
    return this.list("deposits", filters, options);
  }

  /** Orders that came through creators' links. */
  conversions(filters: FiltersOf["conversions"] = {}, options: ListOptions = {}): RecordList<"conversions"> {
    return this.list("conversions", filters, options);
  }

  /** Creators' tracked links. */
  links(filters: FiltersOf["links"] = {}, options: ListOptions = {}): RecordList<"links"> {
    return this.list("links", filters, options);
  }

  /**
   * Prepares a campaign plan, which people complete at its `review_path`. Needs a key with `campaigns:prepare`. However often the request
   * is repeated, there is one plan for a `request_id`. Without one, the call makes it.
   *
   * If the call fails, `error.planRequestId` is the one that was sent: call again with it and the same input, and the plan is not made
   * twice. A call that its `signal` ends has no such error, only the signal's reason: give one with a `signal` a `request_id` of its own.
   */
  prepareCampaignPlan(input: PlanInput, options: CallOptions = {}): Promise<PreparedPlan> {
    return preparePlan(this.#transport, input, options, this.#expectBrand);
  }

  /**
   * Copies every list into a store, and goes on with a walk that was interrupted. Run it each night. It is refused if the key is of
   * another brand than the copy.
   *
   * @throws BrandRecordsError after ten minutes without a page: the next run goes on
   */
  sync(store: SyncStore, options: SyncOptions = {}): Promise<FinishedWalk> {
    const open = (resource: ResourceName, options: ListOptions, brandId: string | undefined): RecordList<ResourceName> =>
      new RecordList(this.#transport, { resource, filters: {}, options }, brandId);
    return sync(open, store, options, this.#expectBrand);
  }
}
