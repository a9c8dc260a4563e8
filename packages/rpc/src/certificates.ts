import { ConfigError } from "@brand-records/config";
import type { experimental } from "@grpc/grpc-js";
import { serviceOf, spiffeIdOf, type OwnIdentity } from "./identity.ts";
import type { TlsConfig } from "./settings.ts";
import { certificatesIn, readTlsFiles, tlsFilesOf, type MutualTls, type TlsFiles } from "./tls-files.ts";

/** Files that a Secret mount or an agent has replaced are in use after this. */
const POLL_MS = 10_000;

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

interface CertificateListener {
  onReplaced(): void;
  /** Called once for each new problem: the last good files remain in use. */
  onProblem?(problem: string): void;
}

/**
 * The certificate, key and authorities of this process, which follow their files. Files that cannot be read or do not fit each other, as
 * while they are replaced one after the other, change nothing; nor does a certificate without this process' SPIFFE id, or with another:
 * who is called, and by whom, is known by it.
 *
 * The FileWatcherCertificateProvider of grpc-js drops a good certificate then.
 */
export class Certificates implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  /** The SPIFFE id of this process' certificate, which it keeps until it ends. */
  readonly own: OwnIdentity;
  readonly #timer: NodeJS.Timeout;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();
  readonly #listeners = new Set<CertificateListener>();
  #current: MutualTls;
  #problem: string | undefined;
  #users = 0;

  /** @throws ConfigError if the files are wrong, or the certificate has no id */
  private constructor(files: TlsFiles, pollMs: number) {
    this.#files = files;
    this.#current = readTlsFiles(files);
    const { own, found } = identityIn(this.#current);
    if (own === undefined)
      throw new ConfigError([`RPC_TLS_CERT: ${found} needs one id of the form spiffe://DOMAIN/ns/NAMESPACE/sa/SERVICE`]);
    this.own = own;
    this.#timer = setInterval(() => this.#poll(), pollMs);
    this.#timer.unref();
  }

  static readonly #open = new Map<string, Certificates>();

  /**
   * Returns the certificates of the settings' files, the same for every client and server of the process, until each has called `release`;
   * undefined without TLS.
   *
   * @throws ConfigError if only some files are set, they are wrong, or the certificate has no SPIFFE id
   */
  static of(config: TlsConfig, pollMs = POLL_MS): Certificates | undefined {
    const files = tlsFilesOf(config);
    if (files === undefined) return undefined;
    const key = JSON.stringify(files);
    const opened = Certificates.#open.get(key) ?? new Certificates(files, pollMs);
    Certificates.#open.set(key, opened);
    opened.#users += 1;
    return opened;
  }

  release(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    clearInterval(this.#timer);
    Certificates.#open.delete(JSON.stringify(this.#files));
  }

  get current(): MutualTls {
    return this.#current;
  }

  /** Why the files, as they are now, are not those in use; undefined if they are. */
  get problem(): string | undefined {
    return this.#problem;
  }

  listen(listener: CertificateListener): void {
    this.#listeners.add(listener);
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    // A server adds its own listener only afterwards: called at once, it would not learn of the first certificate.
    process.nextTick(() => this.#caListeners.has(listener) && listener({ caCertificate: this.#current.ca }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    process.nextTick(() => this.#identityListeners.has(listener) && listener(identityOf(this.#current)));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }

  /** @throws ConfigError if the files are wrong, or the certificate is not of this process' identity */
  #read(): MutualTls {
    const files = readTlsFiles(this.#files);
    const { own, found } = identityIn(files);
    const { prefix, service } = this.own;
    if (own?.prefix === prefix && own.service === service) return files;
    throw new ConfigError([`RPC_TLS_CERT: ${found} is not of ${prefix}${service}, as this process is until it ends`]);
  }

  #poll(): void {
    let files: MutualTls;
    try {
      files = this.#read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return this.#report(error.problems.join("; "));
    }
    this.#problem = undefined;
    const { cert, key, ca } = this.#current;
    if (files.cert.equals(cert) && files.key.equals(key) && files.ca.equals(ca)) return;
    this.#current = files;
    for (const listener of this.#caListeners) listener({ caCertificate: files.ca });
    for (const listener of this.#identityListeners) listener(identityOf(files));
    for (const listener of this.#listeners) listener.onReplaced();
  }

  #report(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    for (const listener of this.#listeners) listener.onProblem?.(problem);
  }
}

const identityOf = ({ cert, key }: MutualTls) => ({ certificate: cert, privateKey: key });

/** The identity among a certificate's names, which `found` lists; undefined without one, with several, or if it has another form. */
function identityIn({ cert }: MutualTls): { readonly own: OwnIdentity | undefined; readonly found: string } {
  const names = certificatesIn(cert)[0]?.subjectAltName;
  const id = spiffeIdOf(names);
  const service = serviceOf(id);
  const own = id === undefined || service === undefined ? undefined : { prefix: id.slice(0, -service.length), service };
  return { own, found: `the certificate (${names ?? "no names"})` };
}
