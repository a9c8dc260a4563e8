import { emailField, idField } from "@brand-records/service";
import { z } from "zod";

export const TIERS = ["starter", "plus", "pro", "enterprise"] as const;
export type Tier = (typeof TIERS)[number];

export interface Brand {
  readonly id: string;
  readonly name: string;
  readonly tier: Tier;
  readonly verified: boolean;
  readonly epoch: number;
  readonly created_at: string;
}

export interface Member {
  readonly brand_id: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly created_at: string;
}

/** Integrations are for Plus and above. */
export const mayIntegrate = (tier: Tier): boolean => tier !== "starter";

const plainText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(max, `must be at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not hold control characters");

/** What may be said of a brand, its members and its keys. Names are kept trimmed, addresses in lower case. */
export const fields = {
  brandId: idField("brd"),
  brandName: plainText(200),
  tier: z.enum(TIERS, `must be one of ${TIERS.join(", ")}`),
  email: emailField(),
  role: z.enum(["owner", "member"], "must be owner or member"),
  keyName: plainText(80),
  environment: z.enum(["live", "test"], "must be live or test"),
  keyId: idField("key"),
  permissions: z.array(z.enum(["records:read", "campaigns:prepare"], "must be records:read or campaigns:prepare")),
  afterId: z.string().regex(/^(brd_[0-9a-z]{1,40})?$/, "must be the last brand's id of the page before"),
  pageSize: z.int().min(0).max(1_000, "must be at most 1000"),
};
