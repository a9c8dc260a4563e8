import { AppError } from "@brand-records/errors";
import { openMetrics } from "@brand-records/telemetry";
import { countServerErrors } from "./server-errors.ts";

/** One promise: the alert on internal errors sees the first one, because its count begins at 0. */

const internalErrors = async (metrics: ReturnType<typeof openMetrics>): Promise<string[]> =>
  (await metrics.metrics()).match(/^server_errors_total\{kind="internal_error".* \d+$/gm) ?? [];

it("counts internal errors from 0, wherever they may arise", async () => {
  const metrics = openMetrics("gateway");
  const serverErrors = countServerErrors(metrics);
  const line = (dependency: string, count: number): string =>
    `server_errors_total{kind="internal_error",dependency="${dependency}",service="gateway"} ${count}`;
  const services = ["accounts", "plans", "records", "webhook"];
  expect(await internalErrors(metrics)).toEqual(["none", ...services].map((dependency) => line(dependency, 0)));
  serverErrors.count(AppError.from(new Error("boom")));
  expect(await internalErrors(metrics)).toEqual([line("none", 1), ...services.map((dependency) => line(dependency, 0))]);
});
