import { randomBytes } from "node:crypto";
import { ConfigError } from "@brand-records/config";
import { parseConfig } from "./config.ts";

const bytes = (length: number): string => randomBytes(length).toString("base64");
const parse = (KEY_PEPPERS: string) => parseConfig({ DATABASE_URL: "postgres://localhost/accounts", KEY_PEPPERS });

it("returns peppers newest first, in whatever order they are listed", () => {
  const [one, two, ten] = [bytes(32), bytes(48), bytes(32)];
  expect(parse(`2:${two}, 10:${ten},1:${one}`).KEY_PEPPERS).toEqual([
    { version: 10, bytes: Buffer.from(ten, "base64") },
    { version: 2, bytes: Buffer.from(two, "base64") },
    { version: 1, bytes: Buffer.from(one, "base64") },
  ]);
});

it.each([
  ["without a version", bytes(32)],
  ["of fewer than 32 bytes", `1:${bytes(31)}`],
  ["not in base64", "1:not base64 but quite long, surely longer than 32 bytes"],
  ["with one version twice", `1:${bytes(32)},1:${bytes(32)}`],
  ["with an empty entry", `1:${bytes(32)},`],
])("refuses peppers %s without revealing them", (_, peppers) => {
  let message = "accepted";
  try {
    parse(peppers);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    message = (error as ConfigError).message;
  }
  expect(message).toContain("KEY_PEPPERS: must be version:base64 pairs");
  for (const part of peppers.split(/[:,]/).filter((each) => each.length > 3)) expect(message).not.toContain(part);
});

it("reports every missing setting in one error", () => {
  expect(() => parseConfig({})).toThrow(/DATABASE_URL: .*\n.*KEY_PEPPERS: /s);
});

it("has the issuer and the client id of the provider, or neither, and an https issuer", () => {
  const settings = { DATABASE_URL: "postgres://localhost/accounts", KEY_PEPPERS: `1:${bytes(32)}` };
  const provider = { OIDC_ISSUER: "https://id.example", OIDC_CLIENT_ID: "records" };
  expect(parseConfig({ ...settings, ...provider })).toMatchObject({ ...provider, OIDC_TRUST_EMAIL: "false" });
  expect(parseConfig({ ...settings, OIDC_ISSUER: "", OIDC_CLIENT_ID: "" }).OIDC_ISSUER).toBeUndefined();
  for (const [name, other] of [
    ["OIDC_ISSUER", "OIDC_CLIENT_ID"],
    ["OIDC_CLIENT_ID", "OIDC_ISSUER"],
  ]) {
    expect(() => parseConfig({ ...settings, ...provider, [name ?? ""]: "" })).toThrow(`${name}: must be set with ${other}`);
  }
  expect(() => parseConfig({ ...settings, ...provider, OIDC_ISSUER: "http://id.example" })).toThrow("OIDC_ISSUER: must be https");
});

it("has a mail server with a sender and the console's address, or none; and no URL that could switch TLS off", () => {
  const settings = { DATABASE_URL: "postgres://localhost/accounts", KEY_PEPPERS: `1:${bytes(32)}` };
  const mail = {
    SMTP_URL: "smtps://user:p%40ss@mail.example",
    MAIL_FROM: "no-reply@records.example",
    PUBLIC_URL: "https://records.example",
  };
  expect(parseConfig({ ...settings, ...mail })).toMatchObject(mail);
  expect(parseConfig({ ...settings, PUBLIC_URL: mail.PUBLIC_URL }).SMTP_URL).toBeUndefined();
  for (const name of ["MAIL_FROM", "PUBLIC_URL"]) {
    expect(() => parseConfig({ ...settings, ...mail, [name]: "" })).toThrow(`${name}: must be set with SMTP_URL`);
  }
  for (const SMTP_URL of [
    "https://mail.example",
    "smtp://mail.example?ignoreTLS=true",
    "smtp://mail.example/x",
    "mail.example:25",
    "smtp://u:p%w@mail.example",
    "smtp://u:p%ff@mail.example",
  ])
    expect(() => parseConfig({ ...settings, ...mail, SMTP_URL })).toThrow("SMTP_URL: must");
});
