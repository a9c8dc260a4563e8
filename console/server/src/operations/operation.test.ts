import * as accounts from "@brand-records/proto/accounts/v1";
import * as plans from "@brand-records/proto/plans/v1";
import * as webhook from "@brand-records/proto/webhook/v1";

it("a field that a service leaves out is null in every message, and so in its JSON: pages of 1.0 tell null from other values", () => {
  const messages = [accounts, plans, webhook].flatMap((each) => Object.entries(each));
  const decoded = messages.flatMap(([name, message]) => ("decode" in message ? [[name, message.decode(new Uint8Array())] as const] : []));
  expect(decoded.length).toBeGreaterThan(100);
  expect(decoded.filter(([, fields]) => Object.values(fields).includes(undefined))).toEqual([]);
});
