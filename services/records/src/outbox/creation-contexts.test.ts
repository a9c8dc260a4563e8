import { CreationContexts } from "./creation-contexts.ts";

const row = { seq: 1, payload: "{}", traceparent: null };

it("keeps the trace context of the platform", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  expect(new CreationContexts().of({ ...row, traceparent })).toBe(traceparent);
});

it("begins one trace for a change without one, however often it is published, and another for another change", () => {
  const contexts = new CreationContexts();
  const first = contexts.of(row);
  expect(contexts.of(row)).toBe(first);
  const second = contexts.of({ ...row, seq: 2 });
  expect(second).not.toBe(first);
  contexts.forget([row]);
  expect(contexts.of(row)).not.toBe(first);
  expect(contexts.of({ ...row, seq: 2 })).toBe(second);
});
