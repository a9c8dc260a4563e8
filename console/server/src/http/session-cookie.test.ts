import type { Request, Response } from "express";
import { sessionCookie } from "./session-cookie.ts";

function setBy(publicUrl: string): string {
  let header = "";
  sessionCookie(publicUrl).set({ append: (_: string, value: string) => (header = value) } as unknown as Response, "token");
  return header;
}

it("on https cannot be set by a subdomain or sent over plain http", () => {
  expect(setBy("https://records.example")).toBe("__Host-session=token; HttpOnly; SameSite=Lax; Path=/; Secure");
});

it("on loopback has the port in its name, because all ports share their cookies", () => {
  expect(setBy("http://localhost:8170")).toBe("session_8170=token; HttpOnly; SameSite=Lax; Path=/");
});

it.each([
  ["session_8170=abc", "abc"],
  ["a=b; session_8170=abc; session_9=x", "abc"],
  ["xsession_8170=abc", undefined],
  ["session_8170=", undefined],
  ["", undefined],
])("reads %j as %j", (cookie, token) => {
  expect(sessionCookie("http://localhost:8170").read({ headers: { cookie } } as Request)).toBe(token);
});
