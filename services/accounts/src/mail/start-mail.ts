import { readPem } from "@brand-records/config";
import { repeat, withStopTimeout } from "@brand-records/lifecycle";
import type { Database } from "@brand-records/postgres";
import { type Maintenance, showSampled } from "@brand-records/service-runtime";
import { Counter, type Logger, type Registry, startAtZero } from "@brand-records/telemetry";
import type { AccountsConfig } from "../config.ts";
import { contentOf, messageId, retrySeconds } from "../domain/mail.ts";
import { claimMails, type ClaimedMail, oldestMailSeconds, retryMail, settleMail } from "../storage/mails.ts";
import { smtpServer } from "./smtp-url.ts";

const EVERY_MS = 5_000;
/** Mails, and connections, at the same time. */
const BATCH = 8;
/** A try is cut off before another process begins one. */
const SEND_MS = 60_000;
const LEASE_SECONDS = 120;
/** Of one step of the protocol. */
const STEP_MS = 20_000;
/** A mail whose sending is cut off is sent again. */
const STOP_MS = 5_000;

interface MailOptions {
  readonly config: Pick<AccountsConfig, "SMTP_URL" | "SMTP_TLS_CA" | "MAIL_FROM" | "PUBLIC_URL">;
  readonly db: Database;
  readonly maintenance: Maintenance;
  readonly metrics: Registry;
  readonly log: Logger;
}

/** Sends what is due. Any number of processes may do so at the same time. */
type SendDue = (isStopping?: () => boolean) => Promise<void>;

/**
 * Opens what sends mail to owners, at least once: a mail whose end is not noted is sent again. No connection to the database is held while the
 * mail server responds.
 *
 * @returns undefined without SMTP_URL
 */
export async function openMail({ config, db, maintenance, metrics, log }: MailOptions): Promise<SendDue | undefined> {
  const { SMTP_URL, SMTP_TLS_CA, MAIL_FROM = "", PUBLIC_URL = "" } = config;
  if (SMTP_URL === undefined) return undefined;
  const ca = SMTP_TLS_CA === undefined ? undefined : readPem("SMTP_TLS_CA", SMTP_TLS_CA);
  const { createTransport } = await import("nodemailer");
  const bounds = { connectionTimeout: STEP_MS, greetingTimeout: STEP_MS, socketTimeout: STEP_MS };
  const transport = createTransport({ ...smtpServer(SMTP_URL), ...bounds, tls: { ...(ca !== undefined && { ca }) } });
  const mails = mailMetrics(metrics, db);
  const host = MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1);

  const send = ({ brand_id, brand_name: brandName, email, notices }: ClaimedMail): Promise<unknown> =>
    transport.sendMail({
      from: { name: "Brand Records", address: MAIL_FROM },
      to: { name: "", address: email },
      ...contentOf({ brandName, notices, publicUrl: PUBLIC_URL }),
      messageId: messageId(brand_id, email, notices, host),
      list: { unsubscribe: `${PUBLIC_URL}/developers/mail` },
      // No out-of-office replies.
      headers: { "Auto-Submitted": "auto-generated" },
      signal: AbortSignal.timeout(SEND_MS),
    });

  const settle = async (mail: ClaimedMail): Promise<unknown> => {
    const { brand_id, subject, tries, is_wanted, is_old } = mail;
    if (!is_wanted) return settleMail(db, mail, false);
    if (is_old) {
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
      const seconds = retrySeconds(tries);
      log.warn({ brand_id, subject, tries, code, smtp_status: responseCode, command, retry_in_seconds: seconds }, "mail not sent");
      return retryMail(db, mail, seconds);
    }
    mails.inc({ outcome: "sent" });
    return settleMail(db, mail, true);
  };

  return (isStopping = () => false) =>
    maintenance.run("send mail", async () => {
      let claimed: ClaimedMail[];
      do {
        claimed = await claimMails(db, BATCH, LEASE_SECONDS);
        const ended = await Promise.allSettled(claimed.map(settle));
        for (const each of ended) if (each.status === "rejected") throw each.reason;
      } while (claimed.length === BATCH && !isStopping());
    });
}

export function startMail(sendDue: SendDue): { stop(): Promise<void> } {
  let stopping = false;
  const running = withStopTimeout(
    repeat(() => sendDue(() => stopping), EVERY_MS),
    STOP_MS,
  );
  return {
    stop() {
      stopping = true;
      return running.stop();
    },
  };
}

function mailMetrics(registry: Registry, db: Database): Counter<"outcome"> {
  showSampled(registry, () => oldestMailSeconds(db), [
    {
      name: "mail_oldest_seconds",
      help: "Time since what a mail tells that could not be sent yet, the longest; 0: there is none, -1: the database does not respond.",
      of: (seconds) => seconds,
    },
  ]);
  const mails = new Counter({
    name: "mails_total",
    help: "Tries to send mail to an owner, by outcome: sent, failed (it is tried again), given_up (for a day none has succeeded).",
    labelNames: ["outcome"],
    registers: [registry],
  });
  startAtZero(mails, "outcome", ["sent", "failed", "given_up"]);
  return mails;
}
