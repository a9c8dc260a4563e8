import { AppError } from "@brand-records/errors";
import type { Database } from "@brand-records/postgres";
import { KnownBrands } from "./known-brands.ts";

/** Brands that do not exist are not written. */
const db = {} as Database;
const IDS = Array.from({ length: 100 }, (_, at) => `brd_${at}`);

it("asks accounts about twenty brands at a time: one after another, a hundred that do not exist took longer than all may", async () => {
  let underWay = 0;
  const atOnce: number[] = [];
  const brands = new KnownBrands(db, {
    async getBrand() {
      underWay += 1;
      await Promise.resolve();
      atOnce.push(underWay);
      underWay -= 1;
      throw new AppError("not_found", "none");
    },
    listDeletedBrands: async ({ brand_ids }) => ({ brand_ids: brand_ids.slice(0, 1) }),
  });
  const { existing, deleted } = await brands.lookUp(IDS);
  expect([existing.size, [...deleted]]).toEqual([0, ["brd_0"]]);
  expect(atOnce).toHaveLength(100);
  expect(Math.max(...atOnce)).toBe(20);
});

it("rejects while accounts is away", async () => {
  const away = new AppError("unavailable", "away");
  const brands = new KnownBrands(db, { getBrand: () => Promise.reject(away), listDeletedBrands: () => Promise.reject(away) });
  await expect(brands.lookUp(IDS)).rejects.toMatchObject({ kind: "unavailable" });
});
