import { describeDrills } from "./describe-drills.ts";
import { DRILLS } from "./drills.ts";

/** What other tests of test/faults stop, kill or freeze, too, and retention, whose alert lasts a minute. drills.release.test.ts has all. */
const BEFORE_A_RELEASE =
  /^(gateway|console|plans|webhook|Kafka|Postgres frozen|Redis frozen|Redis stopped|accounts killed|records frozen|retention)\b/;

describeDrills(
  DRILLS.filter(({ fault }) => !BEFORE_A_RELEASE.test(fault)),
  30,
);
