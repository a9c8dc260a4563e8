import { networkOf } from "./request-context.ts";

it.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  ["2001:db8:1:2::1", networkOf("2001:db8:1:2:ffff:ffff:ffff:ffff")],
  ["fe80::1%eth0", networkOf("fe80::2")],
  ["", ""],
])("takes %s for %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});

it("tells two networks apart", () => {
  expect(networkOf("2001:db8:1:2::1")).not.toBe(networkOf("2001:db8:1:3::1"));
});
