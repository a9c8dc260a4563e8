import { isLoopbackName } from "@brand-records/config";
import { z } from "zod";

/** A secret: it may hold a password. Nothing in it switches TLS off. */
export const smtpUrl = z
  .url({ protocol: /^smtps?$/, error: "must be an smtps:// or smtp:// URL", abort: true })
  .refine((text) => /^[^/]+\/\/[^/?#]+\/?$/.test(text), "must have no path, query or fragment")
  .meta({ values: "smtps:// or smtp:// URL", secret: true });

/** What nodemailer needs of the URL. TLS is required, unless nothing leaves this machine. */
export function smtpServer(text: string) {
  const { protocol, hostname, port, username, password } = new URL(text);
  const isSecure = protocol === "smtps:";
  const isLocal = isLoopbackName(hostname);
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port) || (isSecure ? 465 : 587),
    secure: isSecure,
    requireTLS: !isLocal,
    ignoreTLS: isLocal,
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
  };
}
