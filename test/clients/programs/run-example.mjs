// Runs an example of a document, with what it takes for granted, and delivers an event to what it serves.
import { once } from "node:events";
import { createServer } from "node:http";
import process from "node:process";
import { BrandRecords } from "@brand-records/client";
import { signDelivery } from "@brand-records/client/signing";

const { URL: url, KEY: key, SECRET } = process.env;
const stored = [];
const handlers = [];
const body = JSON.stringify({ id: "evt_1", type: "payout.paid", data: { id: "po_1", amount_centavos: 241_000 } });
const headers = await signDelivery(body, SECRET);
const store = Object.assign(async (records) => stored.push(...records.map(({ id }) => id)), {
  load: () => ({ brandId: undefined, progress: undefined }),
  writePage: ({ records }) => stored.push(...records.map(({ id }) => id)),
  finishWalk: () => undefined,
});
Object.assign(globalThis, {
  ...{ BrandRecords, records: new BrandRecords({ url, key }), url, key, store, count: 0, link: "lnk_1" },
  storeOnce: async (id, value) => stored.push(`${id}: ${value}`),
  ...{ rawBody: Buffer.from(body), headers: new Headers(headers) },
  app: { post: (_, handler) => handlers.push(handler) },
});

const { default: served } = await import(process.argv[2]);
const statuses = [];
for (const handler of handlers) {
  const server = createServer((request, response) => void handler(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const response = await fetch(`http://127.0.0.1:${server.address().port}/hooks`, { method: "POST", headers, body });
  statuses.push(response.status);
  server.close();
}
if (served !== undefined) {
  const request = new Request("https://hooks.example/hooks", { method: "POST", headers, body });
  statuses.push((await served.fetch(request, { WEBHOOK_SECRET: SECRET })).status);
}
console.log(JSON.stringify({ stored, statuses }));
process.exit();
