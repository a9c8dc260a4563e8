import { isLoopbackName, readPem } from "@brand-records/config";
import type { Database } from "@brand-records/postgres";
import type { Maintenance } from "@brand-records/service-runtime";
import { Counter, type Logger, type Registry, startAtZero } from "@brand-records/telemetry";
import type { AccountsConfig } from "../config.ts";
import { contentOf } from "../domain/mail.ts";
import { claimMails, type ClaimedMail, retryMail, settleMail } from "../storage/mails.ts";

/** Mails, and connections, at the same time. */
const BATCH = 10;
/** A try is cut off before another process begins one. */
const SEND_MS = 60_000;
const LEASE_SECONDS = 120;

interface MailOptions {
  readonly config: Pick<AccountsConfig, "SMTP_URL" | "SMTP_TLS_CA" | "MAIL_FROM" | "PUBLIC_URL">;
  readonly db: Database;
  readonly maintenance: Maintenance;
  readonly metrics: Registry;
  readonly log: Logger;
}

/**
 * Returns what sends mails that are due, at least once: a mail whose end is not noted is sent again. Any number of processes may do so. No
 * connection to the database is held while the mail server responds. Undefined without SMTP_URL.
 */
export async function openMail({ config, db, maintenance, metrics, log }: MailOptions): Promise<(() => Promise<void>) | undefined> {
  const { SMTP_URL, MAIL_FROM = "", PUBLIC_URL = "" } = config;
  if (SMTP_URL === undefined) return undefined;
  const { createTransport } = await import("nodemailer");
  const transport = createTransport(transportOf(SMTP_URL, config.SMTP_TLS_CA));
  const mails = new Counter({
    name: "mails_total",
    help: "Tries to send mail to an owner, by outcome: sent, failed (it is tried again), given_up (for a day none has succeeded).",
    labelNames: ["outcome"],
    registers: [metrics],
  });
  startAtZero(mails, "outcome", ["sent", "failed", "given_up"]);

  const send = (mail: ClaimedMail): Promise<unknown> =>
    transport.sendMail({
      from: { name: "Brand Records", address: MAIL_FROM },
      to: { name: "", address: mail.email },
      ...contentOf(mail, PUBLIC_URL),
      // The same for each try, so that a mailbox can tell that it has it already.
      messageId: `<${mail.hash}@${MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1)}>`,
      list: { unsubscribe: `${PUBLIC_URL}/developers/mail` },
      // No out-of-office replies.
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.timeout(SEND_MS),
    });

  const settle = async (mail: ClaimedMail): Promise<unknown> => {
    const { brand_id, subject, tries } = mail;
    if (!mail.is_wanted) return settleMail(db, mail, false);
    if (mail.is_old) {
      mails.inc({ outcome: "given_up" });
      log.error({ brand_id, subject, tries }, "mail given up after a day");
      return settleMail(db, mail, false);
    }
    try {
      await send(mail);
    } catch (error) {
      mails.inc({ outcome: "failed" });
      // Its message may have the address.
      const { code, responseCode, command } = error as { code?: string; responseCode?: number; command?: string };
      log.warn({ brand_id, subject, tries, code, smtp_status: responseCode, command }, "mail not sent");
      return retryMail(db, mail);
    }
    mails.inc({ outcome: "sent" });
    return settleMail(db, mail, true);
  };

  return () =>
    maintenance.run("send mail", async () => {
      const ended = await Promise.allSettled((await claimMails(db, BATCH, LEASE_SECONDS)).map(settle));
      for (const each of ended) if (each.status === "rejected") throw each.reason;
    });
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
