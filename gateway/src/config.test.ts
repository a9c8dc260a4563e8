import { parseConfig } from "./config.ts";

const parse = (env: NodeJS.ProcessEnv = {}) =>
  parseConfig({ ACCOUNTS_ADDRESS: "accounts:7000", PLANS_ADDRESS: "plans:7000", RECORDS_ADDRESS: "records:7000", ...env });

it("keeps idle connections longer than Traefik does, and as long as others need", () => {
  expect(parse().KEEP_ALIVE_MS).toBeGreaterThan(90_000);
  expect(parse({ KEEP_ALIVE_MS: "3700000" }).KEEP_ALIVE_MS).toBeGreaterThan(3_600_000);
});

it.each(["0", "999", "7200001", "95s"])("refuses to keep them for %s ms", (text) => {
  expect(() => parse({ KEEP_ALIVE_MS: text })).toThrow(/KEEP_ALIVE_MS: must be/);
});

it("reads where cells are, with targets of several addresses", () => {
  expect(parse().RECORDS_CELLS).toEqual({});
  expect(parse({ RECORDS_CELLS: "b=dns:///records-b:7000,south-2=ipv4:10.0.0.1:7000,10.0.0.2:7000" }).RECORDS_CELLS).toEqual({
    b: "dns:///records-b:7000",
    "south-2": "ipv4:10.0.0.1:7000,10.0.0.2:7000",
  });
});

it.each(["b", "b=", "=h:1", "B=h:1", "b=h:1,b=h:2", "2b=h:1"])("refuses %s as cells", (text) => {
  expect(() => parse({ RECORDS_CELLS: text })).toThrow(/RECORDS_CELLS: must be name=host:port/);
});
