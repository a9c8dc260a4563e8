import { PERMISSIONS } from "@brand-records/api-key";
import { emailField, idField } from "@brand-records/service";
import { z } from "zod";
import { TIERS } from "../domain/brand.ts";

const oneLine = (max: number) =>
  z
    .string()
    .trim()
    .min(1, "must not be empty")
    .max(max, `must be at most ${max} characters`)
    .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), "must not hold control characters");

/** Rules for the fields of requests. Names are trimmed, e-mail addresses lower-cased. */
export const fields = {
  brandId: idField("brd"),
  brandName: oneLine(200),
  tier: z.enum(TIERS, `must be one of ${TIERS.join(", ")}`),
  email: emailField(),
  role: z.enum(["owner", "member"], "must be owner or member"),
  keyName: oneLine(80),
  environment: z.enum(["live", "test"], "must be live or test"),
  keyId: idField("key"),
  permissions: z.array(z.enum(PERMISSIONS, `must be one of ${PERMISSIONS.join(", ")}`)),
  afterId: z.union([idField("brd"), z.literal("")], "must be the id of the previous page's last brand"),
  pageSize: z.int().min(0, "must not be negative").max(1_000, "must be at most 1000"),
};
