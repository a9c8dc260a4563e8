import { parseRedisUrl } from "./redis-url.ts";

const host = (name: string, port = 6_379) => ({ host: name, port });

it.each([
  ["redis://localhost", { isCluster: false, tls: false, hosts: [host("localhost")] }],
  ["redis://h:1234/2", { isCluster: false, tls: false, hosts: [host("h", 1_234)] }],
  ["redis://h?family=6", { isCluster: false, tls: false, hosts: [host("h")] }],
  ["redis://[::1]:7000", { isCluster: false, tls: false, hosts: [host("::1", 7_000)] }],
  ["rediss://u:p@h", { isCluster: false, tls: true, hosts: [host("h")], username: "u", password: "p" }],
  ["redis://:a%40b%3A%2F@h", { isCluster: false, tls: false, hosts: [host("h")], password: "a@b:/" }],
  ["redis+cluster://a", { isCluster: true, tls: false, hosts: [host("a")] }],
  ["redis+cluster://a:1,b:2,[::1]:3/", { isCluster: true, tls: false, hosts: [host("a", 1), host("b", 2), host("::1", 3)] }],
  ["rediss+cluster://:p@a:1,b", { isCluster: true, tls: true, hosts: [host("a", 1), host("b")], password: "p" }],
  ["redis://a,b/0", { isCluster: true, tls: false, hosts: [host("a"), host("b")] }],
])("reads %s", (url, address) => {
  expect(parseRedisUrl(url)).toEqual(address);
});

it.each([
  "localhost:6379",
  "http://:hunter2@h",
  "redis://",
  "redis://:hunter2@",
  "redis+cluster://:hunter2@a,,b",
  "redis+cluster://:hunter2@a:1/2",
  "redis+cluster://:hunter2@a:1?family=6",
  "redis://:hunter2@h:99999",
  "redis://:hunter2%@h",
])("refuses %s without repeating it", (url) => {
  let message = "no error";
  try {
    parseRedisUrl(url);
  } catch (error) {
    message = String(error);
  }
  expect(message).toMatch(/^Error: (must|has)/);
  expect(message).not.toContain("hunter2");
});
