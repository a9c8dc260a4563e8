import { Gauge, type Logger, type Registry, showGauge } from "@brand-records/telemetry";
import { Certificates } from "./certificates.ts";
import type { TlsConfig } from "./settings.ts";
import { certificatesIn, type MutualTls } from "./tls-files.ts";

/**
 * Shows when the certificates that this process uses expire, and logs when they are replaced or their files are wrong. Does nothing without
 * TLS.
 *
 * @throws ConfigError if the files are wrong
 */
export function reportCertificates(config: TlsConfig, metrics: Registry, log: Logger): { stop(): void } {
  const certificates = Certificates.of(config);
  if (certificates === undefined) return { stop() {} };
  const expiry = new Gauge({
    name: "tls_certificate_expiry_timestamp_seconds",
    help: "When a certificate that this process has loaded expires, in seconds since 1970.",
    labelNames: ["certificate"],
    registers: [metrics],
  });
  const show = (): void => {
    for (const [certificate, date] of Object.entries(expiriesOf(certificates.current))) expiry.set({ certificate }, date.getTime() / 1_000);
  };
  show();
  showGauge(metrics, {
    name: "tls_certificate_files_refused",
    help: "1 while the certificate files are not those in use: they cannot be read, do not fit each other, or are of another identity; else 0.",
    collect() {
      this.set(certificates.problem === undefined ? 0 : 1);
    },
  });
  certificates.listen({
    onReplaced() {
      show();
      log.info({ service: certificates.own.service, ...expiriesOf(certificates.current) }, "certificates replaced");
    },
    onProblem: (problem) => log.warn({ problem }, "certificate files refused, the last good ones remain in use"),
  });
  return { stop: () => certificates.release() };
}

function expiriesOf({ cert, ca }: MutualTls): { leaf?: Date; authority?: Date } {
  const [leaf] = certificatesIn(cert);
  const authorities = certificatesIn(ca);
  // While authorities are replaced, the file holds the old one too.
  const authority = authorities.find((each) => leaf?.checkIssued(each)) ?? authorities[0];
  return { ...(leaf && { leaf: leaf.validToDate }), ...(authority && { authority: authority.validToDate }) };
}
