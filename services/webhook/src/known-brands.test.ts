import { AppError } from "@brand-records/errors";
import { fromServiceError } from "@brand-records/rpc";
import { Metadata, status } from "@grpc/grpc-js";
import { deletedAmong } from "./known-brands.ts";

/** An accounts process that ends each call with the status. */
const accountsThatAnswer = (code: status) => ({
  listDeletedBrands: () =>
    Promise.reject(fromServiceError(Object.assign(new Error("refused"), { code, details: "", metadata: new Metadata() }), "accounts")),
});

it("takes a release of accounts that deletes no brands at its word, and waits for one that is away", async () => {
  expect(await deletedAmong(accountsThatAnswer(status.UNIMPLEMENTED), ["brd_none"])).toEqual(new Set());
  const isAway = deletedAmong(accountsThatAnswer(status.UNAVAILABLE), ["brd_none"]);
  await expect(isAway).rejects.toThrow(AppError);
  await expect(isAway).rejects.toMatchObject({ kind: "unavailable" });
});
