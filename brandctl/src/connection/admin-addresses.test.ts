import { replicaAddresses, type FoundAddress } from "./admin-addresses.ts";

const found = (origin: string, ...addresses: string[]): Promise<string[]> => {
  const lookUp = async (): Promise<FoundAddress[]> => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return replicaAddresses({ origin, from: "GATEWAY_ADMIN" }, lookUp).then((all) => all.map((each) => each.origin));
};

it.each([
  ["each address of a name", ["10.0.0.2", "10.0.0.1"], ["http://10.0.0.1:9090", "http://10.0.0.2:9090"]],
  ["those of IPv6", ["fd00::1", "fd00::2"], ["http://[fd00::1]:9090", "http://[fd00::2]:9090"]],
  ["one of each replica with both", ["10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2"], ["http://10.0.0.1:9090", "http://10.0.0.2:9090"]],
  ["the name of a single one", ["127.0.0.1", "::1"], ["http://gateway:9090"]],
  ["the name that has none", [], ["http://gateway:9090"]],
])("returns %s", async (_, addresses, origins) => {
  expect(await found("http://gateway:9090", ...addresses)).toEqual(origins);
});

it.each(["https://gateway:9090", "http://10.0.0.9:9090", "http://[fd00::9]:9090"])("leaves %s as it is", async (origin) => {
  expect(await found(origin, "10.0.0.1", "10.0.0.2")).toEqual([origin]);
});

it("leaves a name that cannot be looked up", async () => {
  const lookUp = (): Promise<never> => Promise.reject(new Error("ENOTFOUND"));
  expect(await replicaAddresses({ origin: "http://gateway:9090", from: "--admin" }, lookUp)).toEqual([
    { origin: "http://gateway:9090", from: "--admin" },
  ]);
});
