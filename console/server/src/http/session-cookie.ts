import type { Request, Response } from "express";

/** Reads and writes the session's token. */
export interface SessionCookie {
  read(request: Request): string | undefined;
  set(response: Response, token: string): void;
  clear(response: Response): void;
}

/**
 * The cookie of a deployment. On https its name has the prefix with which browsers refuse a cookie that a subdomain or plain http set.
 * On loopback all ports share their cookies, so that the name has the port.
 */
export function sessionCookie(publicUrl: string): SessionCookie {
  const { protocol, port } = new URL(publicUrl);
  const isSecure = protocol === "https:";
  const name = isSecure ? "__Host-session" : `session_${port || "80"}`;
  const attributes = `HttpOnly; SameSite=Lax; Path=/${isSecure ? "; Secure" : ""}`;
  const start = `${name}=`;
  return {
    read({ headers: { cookie = "" } }) {
      const pair = cookie
        .split(";")
        .map((part) => part.trim())
        .find((part) => part.startsWith(start));
      return pair?.slice(start.length) || undefined;
    },
    set: (response, token) => void response.append("Set-Cookie", `${start}${token}; ${attributes}`),
    clear: (response) => void response.append("Set-Cookie", `${start}; Max-Age=0; ${attributes}`),
  };
}
