import { RESOURCES } from "@brand-records/resources";
import { newCallContext } from "@brand-records/rpc";
import { withRecords } from "../../test/with-records.ts";
import { listRecords } from "./list-records.ts";

const [link, brand] = [RESOURCES.links.example, { brand_id: "brd_1" } as never];

/** A page of links from a records process that returns `data`, whatever it is asked for. */
const pageOf = (data: readonly object[], filters: Record<string, string>, fields?: readonly string[]) => {
  const services = withRecords({ listLinks: async () => ({ data, next_cursor: "x" }) });
  return listRecords("links").run(services, brand, { limit: 1, filters, ...(fields && { fields }) }, newCallContext(1_000, "test"));
};

it("a page of a records process that does not know a filter is refused, until processes of this release answer", async () => {
  const filters = { creator_id: link.creator_id, created_from: "2026-11-01T00:00:00Z" };
  const other = { ...link, creator_id: "crt_other" };
  await expect(pageOf([link, other], filters)).rejects.toMatchObject({ kind: "unavailable", retryAfterSeconds: 5 });
  await expect(pageOf([{ ...link, status: "paused" }], { status: "active" })).rejects.toMatchObject({ kind: "unavailable" });
  await expect(pageOf([{ ...link, creator_id: "" }], filters, ["clicks"])).rejects.toMatchObject({ kind: "unavailable" });
  for (const data of [[], [link]]) expect((await pageOf(data, filters)).body).toMatchObject({ data });
});
