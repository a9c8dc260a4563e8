import { newId } from "@brand-records/ids";
import { changeMany } from "../../test/change-many.ts";
import { serveRecords } from "../../test/serve-records.ts";

it("emits ten thousand events for ten thousand changes in one transaction", async () => {
  const served = await serveRecords();
  await changeMany(served, newId("brd"), 10_000);
  await served.stop();
});
