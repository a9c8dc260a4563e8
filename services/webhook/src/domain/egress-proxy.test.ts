import { parseEgressProxy } from "./egress-proxy.ts";

const basic = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;

it.each([
  ["http://proxy:3128", { host: "proxy", port: 3_128, authorization: undefined }],
  ["http://proxy.example/", { host: "proxy.example", port: 80, authorization: undefined }],
  ["http://[fd00::1]:8080", { host: "fd00::1", port: 8_080, authorization: undefined }],
  ["http://webhook:p%40ss%3A%2F@10.0.0.5:3128", { host: "10.0.0.5", port: 3_128, authorization: basic("webhook:p@ss:/") }],
  ["http://token@proxy:1", { host: "proxy", port: 1, authorization: basic("token:") }],
])("reads %s", (url, address) => {
  expect(parseEgressProxy(url)).toEqual(address);
});

it.each([
  "proxy:3128",
  "https://u:hunter2@proxy:3128",
  "socks5://u:hunter2@proxy:1080",
  "http://u:hunter2@proxy:3128/path",
  "http://u:hunter2@proxy:3128?x=1",
  "http://u:hunter2@proxy:3128#x",
  "http://u:hunter2@proxy:0",
  "http://u:hunter2@proxy:99999",
  "http://u:hunter2%@proxy:3128",
  "http://u%3Av:hunter2@proxy:3128",
  "http://u:hunter2@",
])("refuses %s without repeating it", (url) => {
  let message = "no error";
  try {
    parseEgressProxy(url);
  } catch (error) {
    message = String(error);
  }
  expect(message).toMatch(/^Error: (must|has)/);
  expect(message).not.toContain("hunter2");
});
