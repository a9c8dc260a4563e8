import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateAuthority } from "@brand-records/testkit";
import { openLog, openMetrics } from "@brand-records/telemetry";
import { Metadata, type ServiceDefinition } from "@grpc/grpc-js";
import { service as healthService } from "grpc-health-check";
import { GRANT_METADATA } from "./actors.ts";
import { Certificates } from "./certificates.ts";
import { guardCalls, type Guard } from "./guard.ts";
import { OWN_METHODS } from "./methods.ts";

const PREFIX = "spiffe://records.example/ns/live/sa/";

let folder: string;
let certificates: Certificates;
let guard: Guard;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "guard-"));
  const { cert, key, ca } = new CertificateAuthority(folder).issue("records", { names: [`URI:${PREFIX}records`] });
  certificates = Certificates.of({ RPC_TLS_CERT: cert, RPC_TLS_KEY: key, RPC_TLS_CA: ca }) as Certificates;
  const methods = { ...OWN_METHODS, "/test.v1.Test/SayHello": { isIdempotent: false, callers: ["gateway"], actor: "caller" } } as const;
  guard = guardCalls({ certificates, config: {}, methods, log: openLog("test", "silent"), metrics: openMetrics("test") });
});
afterAll(() => {
  certificates.release();
  rmSync(folder, { recursive: true });
});

/** Calls a guarded unary method as a service, with a grant or without. @returns what it responds, or the code of the refusal */
function callAs(service: string, method: unknown, grant?: string): unknown {
  const metadata = new Metadata();
  if (grant !== undefined) metadata.set(GRANT_METADATA, grant);
  const call = { getAuthContext: () => ({ sslPeerCertificate: { subjectaltname: `URI:${PREFIX}${service}` } }), metadata };
  let response: unknown;
  (method as (call: object, callback: (error: { code: number } | null, message: unknown) => void) => void)(
    call,
    (error, message) => void (response = error?.code ?? message),
  );
  return response;
}

const respond = (_: unknown, callback: (error: null, message: string) => void): void => callback(null, "served");

const definitionOf = (path: string, originalName?: string): ServiceDefinition =>
  ({ SayHello: { path, responseStream: false, originalName } }) as unknown as ServiceDefinition;

it.each([
  ["its name in the definition", undefined, { SayHello: respond }],
  ["its original name", "sayHello", { sayHello: respond }],
] as const)("finds a method's handler by %s, and its callers by its path", (_, originalName, implementation) => {
  const { SayHello } = guard(definitionOf("/test.v1.Test/SayHello", originalName), implementation);
  expect(["gateway", "operator", "webhook"].map((service) => callAs(service, SayHello))).toEqual(["served", "served", 7]);
});

it("leaves a method that says nothing of itself to the operator", () => {
  const { SayHello } = guard(definitionOf("/test.v1.Test/SayNothing"), { SayHello: respond });
  expect(["operator", "gateway", "records"].map((service) => callAs(service, SayHello))).toEqual(["served", 7, 7]);
});

it("guards every method of grpc.health.v1, which is loaded from its .proto file", () => {
  const definition = healthService as ServiceDefinition;
  const implementation = Object.fromEntries(Object.keys(definition).map((name) => [name, respond]));
  const guarded = guard(definition, implementation);
  expect(Object.keys(guarded).toSorted()).toEqual(Object.keys(definition).toSorted());
  const { Check, List } = guarded;
  expect([callAs("gateway", Check), callAs("webhook", Check), callAs("gateway", List)]).toEqual(["served", 7, 7]);
});

describe("a method that acts for a person", () => {
  const methods = {
    "/test.v1.Test/SayHello": { isIdempotent: false, callers: ["console", "plans"], actor: "member" },
    "/test.v1.Test/Serve": { isIdempotent: false, callers: ["gateway"], actor: "caller" },
    "/test.v1.Test/Operate": { isIdempotent: false, callers: [], actor: "caller" },
  } as const;
  const guardWith = (config: Parameters<typeof guardCalls>[0]["config"], own?: Certificates): Guard =>
    guardCalls({ certificates: own, config, methods, log: openLog("test", "silent"), metrics: openMetrics("test") });
  /** Calls the methods as a service, with a grant or without. */
  const outcomes = (by: Guard, service: string, grant?: string): unknown[] =>
    ["SayHello", "Serve", "Operate"].map((name) =>
      callAs(service, by(definitionOf(`/test.v1.Test/${name}`), { SayHello: respond })["SayHello"], grant),
    );

  it("is served to the console with a grant, and to the operator and others of its callers without", () => {
    const strict = guardWith({}, certificates);
    expect(outcomes(strict, "console")).toEqual([7, 7, 7]);
    expect(outcomes(strict, "console", "any")).toEqual(["served", 7, 7]);
    expect(outcomes(strict, "plans")).toEqual(["served", 7, 7]);
    expect(outcomes(strict, "gateway")).toEqual([7, "served", 7]);
    expect(outcomes(strict, "operator")).toEqual(["served", "served", "served"]);
  });

  it("needs a grant without TLS, as the operator's methods need a setting", () => {
    const plain = guardWith({});
    expect(outcomes(plain, "anyone")).toEqual([7, "served", 7]);
    expect(outcomes(plain, "anyone", "any")).toEqual(["served", "served", 7]);
    expect(outcomes(guardWith({ RPC_OPERATOR_WITHOUT_TLS: "true" }), "anyone")).toEqual(["served", "served", "served"]);
  });
});
