import { randomBytes } from "node:crypto";
import { SealBroken, type SecretKey } from "../domain/secret-keys.ts";
import type { SigningKey } from "../domain/signature.ts";
import { newSigningSecret, sealSigningSecret } from "../domain/signing-secret.ts";
import { SigningKeys } from "./signing-secrets.ts";

const one: SecretKey = { id: 1, bytes: randomBytes(32) };
const two: SecretKey = { id: 2, bytes: randomBytes(32) };
const keys = new SigningKeys([two, one]);
const ownOf = ({ own }: SigningKey): string => own.export().toString();

it("opens a secret once for as long as the same bytes are stored", () => {
  const secret = newSigningSecret();
  const sealed = sealSigningSecret(one, "rcv_1", secret);
  const opened = keys.open("rcv_1", sealed);
  expect(ownOf(opened)).toBe(secret);
  expect(opened.standard.export()).toEqual(Buffer.from(secret.slice("whsec_".length), "base64"));
  expect(keys.open("rcv_1", { ...sealed, sealed: Buffer.from(sealed.sealed) })).toBe(opened);
});

it("opens the new secret after a rotation, and the same one after it was sealed again under another key", () => {
  const [before, after] = [newSigningSecret(), newSigningSecret()];
  expect(ownOf(keys.open("rcv_1", sealSigningSecret(one, "rcv_1", before)))).toBe(before);
  expect(ownOf(keys.open("rcv_1", sealSigningSecret(one, "rcv_1", after)))).toBe(after);
  expect(ownOf(keys.open("rcv_1", sealSigningSecret(two, "rcv_1", after)))).toBe(after);
});

it("opens nothing that was sealed for another receiver or under another key, though it has opened it before", () => {
  const sealed = sealSigningSecret(one, "rcv_1", newSigningSecret());
  keys.open("rcv_1", sealed);
  expect(() => keys.open("rcv_2", sealed)).toThrow(SealBroken);
  expect(() => keys.open("rcv_1", { ...sealed, keyId: 2 })).toThrow(SealBroken);
  expect(() => keys.open("rcv_1", { ...sealed, keyId: 3 })).toThrow(SealBroken);
});

it("keeps 4,000", () => {
  const first = sealSigningSecret(one, "rcv_1", newSigningSecret());
  const opened = keys.open("rcv_1", first);
  for (let index = 0; index < 4_000; index += 1) keys.open("rcv_2", sealSigningSecret(one, "rcv_2", newSigningSecret()));
  expect(keys.open("rcv_1", first)).not.toBe(opened);
});
