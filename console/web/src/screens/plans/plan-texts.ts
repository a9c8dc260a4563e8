import type { PlanField, PlanValue, PlanValues } from "./plan-values.ts";

/** The types of campaigns, as packages/resources describes them to integrations. */
export const CAMPAIGN_TYPES: readonly { readonly type: string; readonly name: string; readonly text: string }[] = [
  { type: "blitz", name: "Blitz", text: "Clipping, paid per view" },
  { type: "ugc", name: "UGC", text: "Original content" },
  { type: "package", name: "Package", text: "Influencers" },
  { type: "affiliate", name: "Affiliate", text: "Tracked promotion, paid per sale" },
];

export const typeName = (type: string): string => CAMPAIGN_TYPES.find((known) => known.type === type)?.name ?? type;

/** "Blitz: clipping, paid per view". */
export function typeText(type: string): string {
  const known = CAMPAIGN_TYPES.find((one) => one.type === type);
  return known === undefined ? type : `${known.name}: ${known.text.slice(0, 1).toLowerCase()}${known.text.slice(1)}`;
}

export const FIELD_NAMES: Readonly<Record<PlanField, string>> = {
  title: "Title",
  goal: "Goal",
  campaign_type: "Type",
  planned_for: "Planned for",
  review_on: "Review on",
  budget: "Budget",
  summary: "Summary",
  brief: "Brief",
  requirements: "Requirements",
  platforms: "Platforms",
  notes: "Notes",
};

/** "“Title”, “Goal” and “Budget”". */
export const fieldList = (fields: readonly PlanField[]): string =>
  new Intl.ListFormat("en").format(fields.map((field) => `“${FIELD_NAMES[field]}”`));

/** Values as texts to copy, by the names of their fields. */
export const textsOf = (values: Partial<PlanValues>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (Object.entries(values) as [PlanField, PlanValue][]).map(([field, value]) => [
      FIELD_NAMES[field],
      typeof value === "string" ? value : value.join("\n"),
    ]),
  );
