import { AppError, ERROR_KINDS, type ErrorKind } from "@brand-records/errors";
import { Metadata, status } from "@grpc/grpc-js";
import fc from "fast-check";
import { callContext, serveEcho, type Echo, type EchoClient } from "../test/echo-service.ts";
import { fromServiceError } from "./wire-errors.ts";

let thrown: unknown;
let echo: Echo;
let client: EchoClient;
beforeAll(async () => {
  const say = async () => {
    throw thrown;
  };
  echo = await serveEcho({ say });
  client = echo.connect();
});
afterAll(() => echo.stop());

const crossing = async (error: unknown): Promise<AppError> => {
  thrown = error;
  return client.say({}, callContext()).then(
    () => new AppError("internal_error", "it succeeded"),
    (received: AppError) => received,
  );
};
const parts = ({ kind, message, field, details, retryAfterSeconds }: AppError) => ({ kind, message, field, details, retryAfterSeconds });

it.each(Object.keys(ERROR_KINDS) as ErrorKind[])("%s crosses the wire, with the optional parts that it has", async (kind) => {
  const details = [{ field: "limit", message: "must be ≥ 1" }];
  for (const options of [{ field: "limit", details, retryAfterSeconds: 7 }, {}]) {
    const error = new AppError(kind, "What was wrong, and what to do — 100% of it", options);
    const received = await crossing(error);
    expect(received).toBeInstanceOf(AppError);
    expect(parts(received)).toEqual(parts(error));
  }
});

it("a cell's refusal is `unavailable` to a gateway of 1.0, which does not know its kind", () => {
  const metadata = new Metadata();
  metadata.set("error-kind", "kind_of_a_later_release");
  const wire = Object.assign(new Error("refused"), { code: status[ERROR_KINDS.brand_moving.grpc], details: "refused", metadata });
  expect(fromServiceError(wire)).toMatchObject({ kind: "unavailable", retryAfterSeconds: 1 });
});

it("a message of any text arrives unchanged", async () => {
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 100 });
  await fc.assert(
    fc.asyncProperty(text, text, async (message, field) => {
      const error = new AppError("invalid_request", message, { field, details: [{ field, message }] });
      expect(parts(await crossing(error))).toEqual(parts(error));
    }),
  );
});

it("an error with a lone surrogate in its message arrives, and does not end the process", async () => {
  expect(parts(await crossing(new AppError("invalid_request", "a\ud800b")))).toMatchObject({
    kind: "invalid_request",
    message: "a\ufffdb",
  });
});

it.each([
  ["message", () => new AppError("invalid_request", "€".repeat(100_000))],
  ["field", () => new AppError("invalid_request", "Plain", { field: "€".repeat(100_000) })],
  [
    "details",
    () =>
      new AppError("invalid_request", "Plain", {
        details: Array.from({ length: 5_000 }, (_, i) => ({ field: `items.${i}`, message: "€" })),
      }),
  ],
])("an error with too large a %s arrives shortened, and other calls on the connection continue", async (_, error) => {
  const other = client.chat(callContext());
  other.write({ n: 1 });
  await new Promise((resolve) => other.once("data", resolve));
  expect(await crossing(error())).toMatchObject({ kind: "invalid_request" });
  const response = new Promise((resolve) => other.once("data", resolve));
  other.write({ n: 2 });
  expect(await response).toEqual({ n: 2 });
  other.end();
});

it.each([
  ["an error", new Error("password of postgres is hunter2")],
  ["text", "hunter2"],
  ["nothing", undefined],
])("an unknown thrown value, %s, becomes internal_error, and none of it leaves the service", async (_, error) => {
  echo.lines.length = 0;
  const received = await crossing(error);
  expect(received).toMatchObject({ kind: "internal_error", message: expect.stringContaining("Something went wrong on our side") });
  const metadata = (received.cause as { metadata: { getMap(): object } }).metadata.getMap();
  expect(JSON.stringify([parts(received), metadata])).not.toMatch(/hunter2|at .*\.ts/);
  // The log has it, with the request id.
  expect(echo.lines.filter(({ level }) => level !== 20)).toMatchObject([
    { level: 50, request_id: "test", kind: "internal_error", method: "/test.v1.EchoService/Say" },
  ]);
});

it("a refusal is logged at debug level only", async () => {
  echo.lines.length = 0;
  await crossing(new AppError("not_found", "There is none"));
  expect(echo.lines).toMatchObject([{ level: 20, kind: "not_found" }]);
});
