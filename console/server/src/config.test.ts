import { parseConfig } from "./config.ts";

const required = { ACCOUNTS_ADDRESS: "accounts:7000", PLANS_ADDRESS: "plans:7000", WEBHOOK_ADDRESS: "webhook:7000" };

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

const provider = { OIDC_ISSUER: "https://id.example/realms/brands", OIDC_CLIENT_ID: "records", OIDC_CLIENT_SECRET: "0123456789abcdef" };

it.each([
  "https://id.example",
  "https://id.example/",
  "https://id.example/realms/brands",
  "http://localhost:9000",
  "http://127.0.0.1:9000/a",
])("keeps OIDC_ISSUER %s as it is written", (OIDC_ISSUER) => {
  expect(parseConfig({ ...required, ...provider, OIDC_ISSUER }).OIDC_ISSUER).toBe(OIDC_ISSUER);
});

it.each([
  ["http://id.example", "must be https"],
  ["http://localhost.evil.example", "must be https"],
  ["id.example", "must be an http or https URL"],
  ["https://id.example/?tenant=1", "must have no query"],
  ["https://user:pw@id.example", "must have no query"],
  ["https://id.example/.well-known/openid-configuration", "must be the issuer"],
])("refuses OIDC_ISSUER %s: %s", (OIDC_ISSUER, reason) => {
  expect(() => parseConfig({ ...required, ...provider, OIDC_ISSUER })).toThrow(`OIDC_ISSUER: ${reason}`);
});

it.each(Object.keys(provider))("refuses the settings of a provider without %s", (name) => {
  expect(() => parseConfig({ ...required, ...provider, [name]: "" })).toThrow(`${name}: must be set with OIDC_`);
});

it("refuses a client secret that is guessed easily, without repeating it", () => {
  const parse = () => parseConfig({ ...required, ...provider, OIDC_CLIENT_SECRET: "hunter2" });
  expect(parse).toThrow("OIDC_CLIENT_SECRET: must be at least 16 characters");
  expect(parse).not.toThrow("hunter2");
});

it("knows how people run the command line where that is set, and takes one line", () => {
  expect(parseConfig(required).COMMAND_LINE).toBeUndefined();
  expect(parseConfig({ ...required, COMMAND_LINE: "npx @acme/records" }).COMMAND_LINE).toBe("npx @acme/records");
  expect(() => parseConfig({ ...required, COMMAND_LINE: "npx\n@acme/records" })).toThrow("COMMAND_LINE: must not hold control characters");
});
