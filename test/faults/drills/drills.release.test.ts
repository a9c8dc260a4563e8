import { describeDrills } from "./describe-drills.ts";
import { DRILLS } from "./drills.ts";

describeDrills(DRILLS, 90);
