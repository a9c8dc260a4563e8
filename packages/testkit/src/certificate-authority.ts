import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface LeafOptions {
  /** Subject alternative names, such as `DNS:records`, `IP:127.0.0.1` or `URI:spiffe://…`. */
  readonly names: readonly string[];
  /** Default: 1. */
  readonly days?: number;
}

/** PEM files. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** An authority that signs certificates for tests, by openssl. */
export class CertificateAuthority {
  readonly ca: string;
  readonly #folder: string;

  constructor(folder: string, name = "test", days = 1) {
    this.#folder = join(folder, name);
    mkdirSync(this.#folder, { recursive: true });
    this.ca = join(this.#folder, "ca.pem");
    const subject = ["-subj", `/CN=${name}`, "-days", String(days)];
    openssl("req", "-x509", ...NEW_KEY, ...subject, "-keyout", this.#file("ca.key"), "-out", this.ca);
  }

  /** Writes a certificate and its key; again under the same name replaces them. */
  issue(name: string, { names, days = 1 }: LeafOptions): IssuedCertificate {
    const file = (ending: string): string => this.#file(`${name}.${ending}`);
    const [cert, key, request, extensions] = [file("pem"), file("key"), file("csr"), file("ext")] as const;
    openssl("req", "-new", ...NEW_KEY, "-subj", `/CN=${name}`, "-keyout", key, "-out", request);
    writeFileSync(extensions, names.length === 0 ? "" : `subjectAltName = ${names.join(",")}\n`);
    const signer = ["-CA", this.ca, "-CAkey", this.#file("ca.key"), "-CAcreateserial"];
    openssl("x509", "-req", "-in", request, ...signer, "-days", String(days), "-extfile", extensions, "-out", cert);
    return { cert, key, ca: this.ca };
  }

  pem(): string {
    return readFileSync(this.ca, "utf8");
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }
}

const NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"] as const;

const openssl = (...parameters: string[]): void => void execFileSync("openssl", parameters, { stdio: "pipe" });
