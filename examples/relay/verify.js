import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;

/**
 * Returns whether the service signed the delivery, within the last five minutes.
 *
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {Buffer} body the raw body
 * @param {readonly string[]} secrets
 * @param {number} nowSeconds
 */
export function isVerified(headers, body, secrets, nowSeconds) {
  const timestamp = String(headers["x-service-timestamp"]);
  const digest = /^sha256=([0-9a-f]{64})$/.exec(String(headers["x-service-signature"]))?.[1];
  if (!/^[0-9]{1,12}$/.test(timestamp) || digest === undefined) return false;
  if (Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const given = Buffer.from(digest, "hex");
  return secrets.some((secret) => timingSafeEqual(given, createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest()));
}
