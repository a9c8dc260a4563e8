import type { Request, Response } from "express";
import { cookie, type Cookie } from "./cookies.ts";

function setBy(set: (response: Response) => void): string {
  let header = "";
  set({ append: (_: string, value: string) => (header = value) } as unknown as Response);
  return header;
}
const requestWith = (header: string): Request => ({ headers: { cookie: header } }) as Request;
const local = cookie("http://localhost:8170", "session");

it.each<[string, Cookie, string]>([
  [
    "by a subdomain or over plain http",
    cookie("https://records.example", "session"),
    "__Host-session=x; HttpOnly; SameSite=Lax; Path=/; Secure",
  ],
  [
    "over plain http, with a path",
    cookie("https://records.example", "hint", "/a"),
    "__Secure-hint=x; HttpOnly; SameSite=Lax; Path=/a; Secure",
  ],
])("on https cannot be set %s", (_, ofSite, header) => {
  expect(setBy((response) => ofSite.set(response, "x"))).toBe(header);
});

it("on loopback has the port in its name, because all ports share their cookies", () => {
  expect(setBy((response) => local.set(response, "x", 60))).toBe("session_8170=x; Max-Age=60; HttpOnly; SameSite=Lax; Path=/");
  expect(setBy((response) => local.clear(response))).toBe("session_8170=; Max-Age=0; HttpOnly; SameSite=Lax; Path=/");
});

it.each([
  ["session_8170=abc", "abc"],
  ["a=b; session_8170=abc; session_9=x", "abc"],
  ["xsession_8170=abc", undefined],
  ["session_8170=", undefined],
  ["", undefined],
])("reads %j as %j", (header, value) => {
  expect(local.read(requestWith(header))).toBe(value);
});
