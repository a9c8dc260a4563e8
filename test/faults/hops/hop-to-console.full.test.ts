import { describeHopToConsole } from "./describe-hop-to-console.ts";

/** HOPS_REQUESTS=1000000 takes a quarter of an hour. */
const requests = process.env["HOPS_REQUESTS"];

describeHopToConsole(requests === undefined ? { seconds: 60 } : { requests: Number(requests) });
