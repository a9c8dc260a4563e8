import { startRedisCluster } from "@brand-records/testkit";
import { describeRateLimiter } from "../../test/describe-rate-limiter.ts";
import { openRedisHarness } from "../../test/redis-harness.ts";

describeRateLimiter("redis cluster", async () => {
  const cluster = await startRedisCluster({ replicas: true });
  const harness = await openRedisHarness(cluster.url);
  return {
    ...harness,
    async stop() {
      await harness.stop();
      await cluster.stop();
    },
  };
});
