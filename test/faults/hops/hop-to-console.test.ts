import { describeHopToConsole } from "./describe-hop-to-console.ts";

describeHopToConsole({ seconds: 5 });
