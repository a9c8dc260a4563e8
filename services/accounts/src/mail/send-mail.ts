import { hash } from "node:crypto";
import { isLoopbackName, readPem } from "@brand-records/config";
import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import { Counter, type Logger, type Registry, startAtZero } from "@brand-records/telemetry";
import type { AccountsConfig } from "../config.ts";
import { choicePath, contentOf } from "../domain/mail.ts";
import { claimMails, type ClaimedMail, retryMail, settleMail } from "../storage/mails.ts";

const EVERY_MS = 1_000;
/** Mails, and connections, at the same time. */
const SENDING_MAX = 10;
/** A try is cut off before another process begins one. */
const SEND_MS = 60_000;
const LEASE_SECONDS = 120;
/** A mail whose sending is cut off is sent again. A stop has 20 s. */
const STOP_MS = 15_000;

interface MailOptions {
  readonly config: Pick<AccountsConfig, "SMTP_URL" | "SMTP_TLS_CA" | "MAIL_FROM" | "PUBLIC_URL">;
  readonly db: Database;
  readonly maintenance: Maintenance;
  readonly metrics: Registry;
  readonly log: Logger;
}

export interface Mailer {
  /** Claims mails that are due, as many as may be sent beside those that still are, and begins to send them. */
  sendDue(): Promise<void>;
  /** Resolves when no mail is being sent. */
  ended(): Promise<unknown>;
}

/** Sends what is due every second. A stop waits for mails that are being sent. */
export function startMail({ sendDue, ended }: Mailer): { stop(): Promise<void> } {
  const claiming = repeat(sendDue, EVERY_MS);
  const stop = async (): Promise<void> => {
    await claiming.stop();
    await ended();
  };
  return withStopTimeout({ stop }, STOP_MS);
}

/**
 * Returns what sends mail, at least once: one whose end is not noted is sent again. Any number of processes may do so. No connection to the
 * database is held while the mail server responds. Undefined without SMTP_URL.
 */
export async function openMailer({ config, db, maintenance, metrics, log }: MailOptions): Promise<Mailer | undefined> {
  const { SMTP_URL, MAIL_FROM = "", PUBLIC_URL = "" } = config;
  if (SMTP_URL === undefined) return undefined;
  const { createTransport } = await import("nodemailer");
  const transport = createTransport(transportOf(SMTP_URL, config.SMTP_TLS_CA));
  const mails = new Counter({
    name: "mails_total",
    help: "Tries to send mail to an owner, by outcome: sent, failed (it is tried again); and news given_up (for a day no try has succeeded).",
    labelNames: ["outcome"],
    registers: [metrics],
  });
  startAtZero(mails, "outcome", ["sent", "failed", "given_up"]);

  const send = async (mail: ClaimedMail): Promise<void> => {
    const { brand_id, email, subject, tries, given_up } = mail;
    if (given_up > 0) {
      mails.inc({ outcome: "given_up" }, given_up);
      log.error({ brand_id, subject, notices: given_up }, "mail given up after a day");
    }
    const made = contentOf(mail, PUBLIC_URL);
    // What only another release knows, one of its processes tells when the lease is over.
    if (made === undefined) return;
    try {
      await transport.sendMail({
        from: { name: "Brand Records", address: MAIL_FROM },
        to: { name: "", address: email },
        ...made.content,
        // The same for each try, so that a mailbox can tell that it has it already.
        messageId: `<${hash("sha256", [email, ...made.told].join(" ")).slice(0, 32)}@${MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1)}>`,
        list: { unsubscribe: PUBLIC_URL + choicePath(brand_id) },
        // No out-of-office replies.
        headers: { "Auto-Submitted": "auto-generated" },
        signal: AbortSignal.timeout(SEND_MS),
      });
    } catch (error) {
      mails.inc({ outcome: "failed" });
      // The error's message may have the address.
      const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
      const retry_in_seconds = Math.min(30 * 2 ** (tries - 1), 3_600);
      log.warn({ brand_id, subject, tries, code, smtp_status: responseCode, command, retry_in_seconds }, "mail not sent");
      await retryMail(db, mail, retry_in_seconds);
      return;
    }
    mails.inc({ outcome: "sent" });
    await settleMail(db, mail, made.told);
  };

  const sending = new Set<Promise<void>>();
  return {
    sendDue: () =>
      maintenance.run("send mail", async () => {
        for (const mail of await claimMails(db, SENDING_MAX - sending.size, LEASE_SECONDS)) {
          const sent = maintenance.run("send mail", () => send(mail)).finally(() => sending.delete(sent));
          sending.add(sent);
        }
      }),
    ended: () => Promise.all(sending),
  };
}

/** Time for one step of the protocol. */
const STEP_MS = 20_000;

/** TLS is required, unless nothing leaves this machine. */
function transportOf(url: string, caFile: string | undefined) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isLocal = isLoopbackName(hostname);
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port) || (protocol === "smtps:" ? 465 : 587),
    secure: protocol === "smtps:",
    requireTLS: !isLocal,
    ignoreTLS: isLocal,
    tls: caFile === undefined ? {} : { ca: readPem("SMTP_TLS_CA", caFile) },
    ...(username !== "" && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
  };
}
