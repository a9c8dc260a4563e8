import type { Request, Response } from "express";

/** A cookie of a deployment. No script reads it, and requests from other sites carry it only when they open a page. */
export interface Cookie {
  read(request: Request): string | undefined;
  /** @param maxAgeSeconds default: until the browser ends its session */
  set(response: Response, value: string, maxAgeSeconds?: number): void;
  clear(response: Response): void;
}

/** @param path of the requests that carry it. Default: all */
export function cookie(publicUrl: string, name: string, path = "/"): Cookie {
  const { before, after, secure } = naming(publicUrl, path);
  const start = `${before}${name}${after}=`;
  const attributes = `HttpOnly; SameSite=Lax; Path=${path}${secure}`;
  return {
    read: (request) =>
      pairsOf(request)
        .find((pair) => pair.startsWith(start))
        ?.slice(start.length) || undefined,
    set(response, value, maxAgeSeconds) {
      const age = maxAgeSeconds === undefined ? "" : `Max-Age=${maxAgeSeconds}; `;
      response.append("Set-Cookie", `${start}${value}; ${age}${attributes}`);
    },
    clear: (response) => void response.append("Set-Cookie", `${start}; Max-Age=0; ${attributes}`),
  };
}

/**
 * On https a name has a prefix with which browsers refuse a cookie that plain http or, with `__Host-`, a subdomain has set. On loopback
 * all ports share their cookies, so that a name has the port.
 */
function naming(publicUrl: string, path: string): { before: string; after: string; secure: string } {
  const { protocol, port } = new URL(publicUrl);
  if (protocol === "https:") return { before: path === "/" ? "__Host-" : "__Secure-", after: "", secure: "; Secure" };
  return { before: "", after: `_${port || "80"}`, secure: "" };
}

/** A cookie that a script has set, under its bare name. */
export const valueOfCookie = (request: Request, name: string): string | undefined =>
  pairsOf(request)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);

const pairsOf = ({ headers: { cookie: header = "" } }: Request): string[] => header.split(";").map((pair) => pair.trim());

/** Holds the session's token. */
export const sessionCookie = (publicUrl: string): Cookie => cookie(publicUrl, "session");
