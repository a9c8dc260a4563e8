import type { z } from "zod";
import { campaigns } from "./campaigns.ts";
import { conversions } from "./conversions.ts";
import { deposits } from "./deposits.ts";
import { links } from "./links.ts";
import { payouts } from "./payouts.ts";
import { submissions } from "./submissions.ts";

export { FILTER_NAMES, type FilterName } from "./resource.ts";
export { filterProblem, filterSchema, isEmptyRange, type Filters } from "./filters.ts";
export * from "./instant.ts";
export { parsedJson } from "./parsed-json.ts";
export { emptyRecord, fieldNames, fieldsByKind, freeTexts, type Resource } from "./resource.ts";

export {
  EVENT_MESSAGE_BYTES_MAX,
  eventJsonSchema,
  eventMessageSchema,
  readEventMessage,
  SAMPLE_RECORD_IDS,
  sampleData,
  UnreadableMessage,
  type EventMessage,
} from "./events/event-message.ts";
export { EVENT_TYPE_NAMES, EVENT_TYPES, isEventType, type EventType } from "./events/event-types.ts";
export {
  CAMPAIGN_TYPES,
  centavosOf,
  changedFields,
  parsePlanInput,
  pesosOf,
  planInput,
  type CampaignType,
  type PlanInput,
} from "./plans/plan-input.ts";

/** The readable resources, by their names in paths. */
export const RESOURCES = Object.freeze({ campaigns, submissions, payouts, deposits, conversions, links });

export type ResourceName = keyof typeof RESOURCES;

/** A record as the API returns it: every key present. */
export type RecordOf<Name extends ResourceName> = z.output<(typeof RESOURCES)[Name]["schema"]>;

export const RESOURCE_NAMES = Object.freeze(Object.keys(RESOURCES) as ResourceName[]);

/** The method of RecordsService that lists a resource: `listCampaigns` for `campaigns`. */
export type ListMethod<Name extends ResourceName = ResourceName> = `list${Capitalize<Name>}`;

export function listMethod<Name extends ResourceName>(resource: Name): ListMethod<Name> {
  return `list${resource.slice(0, 1).toUpperCase()}${resource.slice(1)}` as ListMethod<Name>;
}

/** The form of every cursor that the lists issue. What it selects is opaque. */
export const CURSOR_FORM = Object.freeze({ minLength: 40, maxLength: 2_200, pattern: "^[A-Za-z0-9_-]+$" });

/** Records per page: the default and the maximum. */
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;
