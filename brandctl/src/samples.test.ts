import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DEMO_RESOURCES } from "@brand-records/demo-data";
import { RESOURCES, type RecordOf, type ResourceName } from "@brand-records/resources";

/** The repository's root: jest runs there. */
const SAMPLES = join(process.cwd(), "test/samples");

const linesOf = (file: string): string[] => readFileSync(join(SAMPLES, file), "utf8").trimEnd().split("\n");
const sample = <Name extends ResourceName>(name: Name): RecordOf<Name>[] =>
  linesOf(`${name}.ndjson`).map((line) => JSON.parse(line) as RecordOf<Name>);

const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

describe("test/samples", () => {
  it.each(DEMO_RESOURCES)("%s are valid and unchanged by the schema", (name) => {
    const records = linesOf(`${name}.ndjson`).map((line) => JSON.parse(line) as { status: string });
    for (const record of records) expect(RESOURCES[name].schema.parse(record)).toStrictEqual(record);
    expect(records.length).toBeGreaterThanOrEqual(5);
    expect(records.length).toBeLessThanOrEqual(20);
  });

  it("fit together", () => {
    const [campaigns, submissions, payouts] = [sample("campaigns"), sample("submissions"), sample("payouts")];
    const [deposits, conversions, links] = [sample("deposits"), sample("conversions"), sample("links")];
    for (const { id, submission_count, conversion_count, amount_centavos, campaign_id, creator_id } of payouts) {
      const [pieces, orders] = [
        submissions.filter(({ payout_id }) => payout_id === id),
        conversions.filter(({ payout_id }) => payout_id === id),
      ];
      expect({ id, pieces: pieces.length, orders: orders.length }).toEqual({ id, pieces: submission_count, orders: conversion_count });
      expect(sum([...pieces.map((piece) => piece.earned_centavos), ...orders.map((order) => order.commission_centavos)])).toBe(
        amount_centavos,
      );
      for (const item of [...pieces, ...orders]) expect(item).toMatchObject({ campaign_id, creator_id, status: "approved" });
    }
    for (const { id, paid_centavos, committed_centavos, budget_centavos, status } of campaigns) {
      const approved = [...submissions, ...conversions].filter((item) => item.campaign_id === id && item.status === "approved");
      const earned = approved.map((item) => ("earned_centavos" in item ? item.earned_centavos : item.commission_centavos));
      const paid = payouts.filter((payout) => payout.campaign_id === id && payout.status === "paid");
      const deposited = deposits.filter((deposit) => deposit.campaign_id === id && deposit.status === "succeeded");
      expect({ id, committed: sum(earned), paid: sum(paid.map(({ amount_centavos }) => amount_centavos)) }).toEqual({
        id,
        committed: committed_centavos,
        paid: paid_centavos,
      });
      if (!["draft", "cancelled"].includes(status)) {
        expect(sum(deposited.map(({ amount_centavos, refunded_centavos }) => amount_centavos - refunded_centavos))).toBe(budget_centavos);
      }
    }
    for (const { id, conversions: counted } of links) {
      expect(conversions.filter(({ link_id, status }) => link_id === id && status !== "reversed")).toHaveLength(counted);
    }
    const known = new Set([...campaigns, ...links, ...payouts].map(({ id }) => id));
    for (const record of [...submissions, ...payouts, ...deposits, ...conversions, ...links]) {
      for (const key of ["campaign_id", "link_id", "payout_id"] as const) {
        const reference: unknown = key in record ? record[key as keyof typeof record] : null;
        if (reference !== null) expect(known).toContain(reference);
      }
    }
  });

  it("bad-submissions has one mistake on each line", () => {
    const { schema } = RESOURCES.submissions;
    const problems = linesOf("bad-submissions.ndjson").map((line) => {
      try {
        return schema.safeParse(JSON.parse(line)).error?.issues.length ?? 0;
      } catch (error) {
        return error instanceof SyntaxError ? "not JSON" : error;
      }
    });
    expect(problems).toEqual(["not JSON", ...problems.slice(1).map(() => 1)]);
  });
});
