import { addressOf } from "./request-context.ts";

it.each([
  ["203.0.113.7", "203.0.113.7"],
  ["203.0.113.7:51234", "203.0.113.7"],
  ["2001:db8::1", "2001:db8::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  ["[2001:db8::1]", "2001:db8::1"],
  ["fe80::1%eth0", "fe80::1"],
  ["unknown", ""],
  ["203.0.113.7:51234:1", ""],
  [undefined, ""],
])("a proxy that reports %p names the address %p", (reported, address) => {
  expect(addressOf(reported)).toBe(address);
});
