import { describeHolding } from "../../test/describe-holding.ts";

describeHolding({ chunkRows: 200 });
