import { openPool } from "@brand-records/postgres";
import { startPostgresServer } from "@brand-records/testkit";
import { makeNextRelease, WITH_INDEX_OF_NEXT } from "./next-release.ts";
import { isClean, reportRun } from "./report.ts";
import { rollingRun } from "./rolling-run.ts";

/**
 * Of two cores, on which twelve processes start at the same time while twelve serve: what counts here is that requests succeed, and
 * `npm run test:rolling` shows how many a second a machine can take meanwhile.
 */
const PER_SECOND = 25;
const SETTINGS = { REQUEST_DEADLINE_MS: "25000" };

/** One promise: replacing processes fails no request and loses no event. `npm run test:rolling` repeats it. */

it("replaces every process by the next release, one type after the other, and goes back all at once, without a failed request or a lost event", async () => {
  const postgres = await startPostgresServer();
  const next = await makeNextRelease();
  try {
    const releases = { from: process.cwd(), present: next.release };
    const result = await rollingRun({ databaseUrl: postgres.url, perSecond: PER_SECOND, settings: SETTINGS, ...releases, log: () => {} });
    if (!isClean(result)) throw new Error(reportRun("Failures", result));
    expect(result.events.changes).toBeGreaterThan(0);
    const db = openPool({ url: postgres.url, max: 1, applicationName: "rolling test" });
    const built = await db.query<{ schema: string }>(WITH_INDEX_OF_NEXT);
    await db.stop();
    expect(built.map(({ schema }) => schema)).toEqual(["accounts", "plans", "records", "webhook"]);
  } finally {
    await next.remove();
    await postgres.stop();
  }
}, 180_000);
