import { parseConfig } from "./config.ts";

const required = { ACCOUNTS_ADDRESS: "accounts:7000", WEBHOOK_ADDRESS: "webhook:7000" };

it.each(["http://localhost:8080", "http://127.0.0.1", "http://[::1]:9", "https://records.example"])(
  "accepts PUBLIC_URL %s",
  (PUBLIC_URL) => {
    expect(parseConfig({ ...required, PUBLIC_URL }).PUBLIC_URL).toBe(PUBLIC_URL);
  },
);

it.each([
  ["http://records.example", "must be https"],
  ["http://192.168.1.5:8080", "must be https"],
  ["http://localhost.evil.example", "must be https"],
  ["https://records.example/console", "must have no path"],
])("refuses PUBLIC_URL %s: %s", (PUBLIC_URL, reason) => {
  expect(() => parseConfig({ ...required, PUBLIC_URL })).toThrow(`PUBLIC_URL: ${reason}`);
});
