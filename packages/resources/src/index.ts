import type { z } from "zod";
import { campaigns } from "./campaigns.ts";
import { conversions } from "./conversions.ts";
import { deposits } from "./deposits.ts";
import { links } from "./links.ts";
import { payouts } from "./payouts.ts";
import { submissions } from "./submissions.ts";

export { EARLIEST_INSTANT, formatInstant, LATEST_INSTANT, parseInstant } from "./instant.ts";
export { fieldsByKind, type Resource } from "./resource.ts";

/** The six readable resources, by their names in paths. */
export const RESOURCES = Object.freeze({ campaigns, submissions, payouts, deposits, conversions, links });

export type ResourceName = keyof typeof RESOURCES;

/** A record as it is answered: every key present. */
export type RecordOf<Name extends ResourceName> = z.output<(typeof RESOURCES)[Name]["schema"]>;

export const RESOURCE_NAMES = Object.freeze(Object.keys(RESOURCES) as ResourceName[]);

export function isResourceName(text: string): text is ResourceName {
  return Object.hasOwn(RESOURCES, text);
}

/** Records of a page: the number asked for when none is, and the largest that may be. */
export const PAGE_LIMIT_DEFAULT = 50;
export const PAGE_LIMIT_MAX = 200;
