import { ConfigError } from "@brand-records/config";
import type { experimental } from "@grpc/grpc-js";
import { serviceOf, spiffeIdOf, type OwnIdentity } from "./identity.ts";
import { certificatesIn, readTlsFiles, tlsFilesOf, type MutualTls, type TlsFiles } from "./tls-files.ts";
import type { TlsConfig } from "./settings.ts";

/** Files that a Secret mount or an agent has replaced are in use after this. */
const POLL_MS = 10_000;

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

export interface CertificateListener {
  onReplaced(): void;
  /** Called once for each new problem: the last good files remain in use. */
  onProblem?(problem: string): void;
}

/**
 * The certificate, key and authorities of this process, which follow their files. Files that cannot be read or do not fit each other, as
 * while they are replaced one after the other, change nothing.
 *
 * Not the FileWatcherCertificateProvider of grpc-js, which drops a good certificate then.
 */
export class Certificates implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  readonly #timer: NodeJS.Timeout;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();
  readonly #listeners = new Set<CertificateListener>();
  #current: MutualTls;
  #own: OwnIdentity | undefined;
  #problem: string | undefined;
  #users = 0;

  /** @throws ConfigError if the files are wrong */
  private constructor(files: TlsFiles, pollMs: number) {
    this.#files = files;
    this.#current = readTlsFiles(files);
    this.#own = ownIdentityIn(this.#current);
    this.#timer = setInterval(() => this.#poll(), pollMs);
    this.#timer.unref();
  }

  static readonly #open = new Map<string, Certificates>();

  /**
   * Returns the certificates of the settings' files, the same for every client and server of the process, until each has called `release`;
   * undefined without TLS.
   *
   * @throws ConfigError if only some files are set, or they are wrong
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

  /** The SPIFFE id of this process' certificate; undefined if it has none. */
  get own(): OwnIdentity | undefined {
    return this.#own;
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

  #poll(): void {
    let read: MutualTls;
    try {
      read = readTlsFiles(this.#files);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return this.#report(error.problems.join("; "));
    }
    this.#problem = undefined;
    const { cert, key, ca } = this.#current;
    if (read.cert.equals(cert) && read.key.equals(key) && read.ca.equals(ca)) return;
    this.#current = read;
    this.#own = ownIdentityIn(read);
    for (const listener of this.#caListeners) listener({ caCertificate: read.ca });
    for (const listener of this.#identityListeners) listener(identityOf(read));
    for (const listener of this.#listeners) listener.onReplaced();
  }

  #report(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    for (const listener of this.#listeners) listener.onProblem?.(problem);
  }
}

const identityOf = ({ cert, key }: MutualTls) => ({ certificate: cert, privateKey: key });

function ownIdentityIn({ cert }: MutualTls): OwnIdentity | undefined {
  const id = spiffeIdOf(certificatesIn(cert)[0]?.subjectAltName);
  const service = serviceOf(id);
  return id === undefined || service === undefined ? undefined : { prefix: id.slice(0, -service.length), service };
}
