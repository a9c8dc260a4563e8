import { AppError } from "@brand-records/errors";

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

export const brandNotFound = (): AppError => new AppError("not_found", "There is no brand with this id", { field: "brand_id" });
