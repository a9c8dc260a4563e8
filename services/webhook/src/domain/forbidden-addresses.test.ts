import { isPublicAddress } from "./forbidden-addresses.ts";

/** The first and last address of each forbidden range, and the public addresses next to it. */
const V4: readonly (readonly [range: string, first: string, last: string, before: string | undefined, after: string | undefined])[] = [
  ["0/8", "0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["10/8", "10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64/10", "100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127/8", "127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254/16", "169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16/12", "172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0/24", "192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2/24", "192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.88.99/24", "192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168/16", "192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18/15", "198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100/24", "198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113/24", "203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224/4", "224.0.0.0", "239.255.255.255", "223.255.255.255", undefined],
  ["240/4", "240.0.0.0", "255.255.255.255", undefined, undefined],
];

it.each(V4)("refuses %s from %s to %s, and accepts the addresses next to it", (_, first, last, before, after) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  for (const next of [before, after]) if (next !== undefined) expect([next, isPublicAddress(next)]).toEqual([next, true]);
});

it.each([
  ["the start of 2000::/3", "2000::1"],
  ["next to 2001::/23", "2001:200::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["next to 2001:db8::/32", "2001:db7:ffff::1", "2001:db9::"],
  ["next to 2002::/16", "2001:ffff::1", "2003::"],
  ["next to 3fff::/20", "3ffe:ffff::1", "3fff:1000::"],
  [
    "well-known public addresses",
    "2606:4700:4700::1111",
    "2001:4860:4860::8888",
    "2a00:1450:4001:81b::200e",
    "2620:fe::fe",
    "2400:cb00::1",
  ],
])("accepts public IPv6: %s", (_, ...addresses) => {
  for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, true]);
});

it.each([
  ["unspecified and loopback", "::", "::1"],
  ["IPv4-compatible", "::127.0.0.1", "::8.8.8.8", "::7f00:1", "::a9fe:a9fe"],
  ["IPv4-mapped, even of a public address", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::ffff:169.254.169.254"],
  ["IPv4-translated", "::ffff:0:7f00:1", "::ffff:0:127.0.0.1"],
  ["NAT64", "64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b:1::7f00:1"],
  ["discard-only and dummy", "100::", "100::1", "100:0:0:1::"],
  [
    "Teredo, ORCHID, benchmarking and the rest of 2001::/23",
    "2001::",
    "2001:0:7f00:1::",
    "2001:2::1",
    "2001:10::",
    "2001:20::",
    "2001:1ff:ffff::",
  ],
  ["documentation", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["6to4", "2002::", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
  ["outside 2000::/3", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5f00::1"],
  ["unique local, link-local, site-local, multicast", "fc00::1", "fd00:ec2::254", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1"],
  ["with a zone", "fe80::1%eth0", "fe80::1%1", "2606:4700:4700::1111%eth0", "::1%lo"],
])("refuses IPv6: %s", (_, ...addresses) => {
  for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false]);
});

it.each([
  "",
  " ",
  "localhost",
  "8.8.8",
  "8.8.8.8 ",
  " 8.8.8.8",
  "8.8.8.8\0",
  "08.8.8.8",
  "0x08.8.8.8",
  "134744072",
  "8.8.8.8:443",
  "8.8.8.8/32",
])("refuses %j, which is not an IPv4 address as resolvers and sockets write it", (text) => expect(isPublicAddress(text)).toBe(false));

it.each(["[2606:4700:4700::1111]", "2606:4700:4700:::1111", "2606:4700:4700::11111", "2606", "example.com"])(
  "refuses %j, which is not an IPv6 address",
  (text) => expect(isPublicAddress(text)).toBe(false),
);

it("reads every spelling of an IPv6 address", () => {
  expect(["2606:4700:4700:0:0:0:0:1111", "2606:4700:4700::17.17.17.17", "2A00:1450::200E"].map(isPublicAddress)).toEqual([
    true,
    true,
    true,
  ]);
  expect(["0:0:0:0:0:0:0:1", "FE80::1", "0:0:0:0:0:FFFF:7F00:1", "2001:0DB8::1"].map(isPublicAddress)).toEqual(Array(4).fill(false));
});
