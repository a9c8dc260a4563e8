import { startPostgresServer } from "@brand-records/testkit";
import { isClean, reportRun } from "./report.ts";
import { releaseIn } from "./fleet.ts";
import { rollingRun } from "./rolling-run.ts";

/**
 * Of two cores, on which twelve processes start at the same time while twelve serve: what counts here is that requests succeed, and
 * `npm run test:rolling` shows how many a second a machine can take meanwhile.
 */
const PER_SECOND = 25;
const SETTINGS = { REQUEST_DEADLINE_MS: "25000" };

/** One promise: replacing processes fails no request and loses no event. `npm run test:rolling` repeats it. */

it("replaces every process, one type after the other and then all at once, without a failed request or a lost event", async () => {
  const postgres = await startPostgresServer();
  try {
    const present = releaseIn(process.cwd());
    const result = await rollingRun({ databaseUrl: postgres.url, perSecond: PER_SECOND, settings: SETTINGS, present, log: () => {} });
    if (!isClean(result)) throw new Error(reportRun("Failures", result));
    expect(result.events.changes).toBeGreaterThan(0);
  } finally {
    await postgres.stop();
  }
}, 180_000);
