import { emailField, idField, pageSizeField } from "@brand-records/service-runtime";
import { z } from "zod";
import { PLAN_STATES } from "../domain/plan.ts";

export const fields = {
  brandId: idField("brd"),
  planId: idField("pln"),
  status: z.enum(PLAN_STATES, `must be one of ${PLAN_STATES.join(", ")}`),
  /** A plan with the longest texts, in four-byte characters, is 202 KB; clients accept messages of 8 MiB. */
  pageSize: pageSizeField({ default: 20, max: 40 }),
  summariesPageSize: pageSizeField({ default: 50, max: 200 }),
  member: emailField(),
  revision: z.int().min(1, "must be the revision that the change was made on, from 1"),
  /** The name of a key. Accounts accepts no longer one than 80 characters, so that a name is never a reason to refuse a plan. */
  preparedBy: z
    .string()
    .max(200)
    .refine((name) => !name.includes("\0") && name.isWellFormed(), "must not contain NUL or lone surrogates"),
};
