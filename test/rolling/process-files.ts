import { X509Certificate } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CertificateAuthority, type IssuedCertificate } from "@brand-records/testkit";
import { hostOf, PROCESS_TYPES, type ProcessType, type TlsSettings } from "./fleet.ts";

/** The secrets of each type of process, in files that `NAME_FILE` names: the processes read them when they start. */
export class SecretFiles {
  readonly #folder: string;
  readonly #settings = new Map<ProcessType, Record<string, string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Writes or replaces the file of a setting. */
  write(type: ProcessType, setting: string, value: string): void {
    const folder = join(this.#folder, type);
    mkdirSync(folder, { recursive: true });
    const file = join(folder, setting);
    writeFileSync(file, `${value}\n`);
    this.#settings.set(type, { ...this.#settings.get(type), [`${setting}_FILE`]: file });
  }

  settingsOf(type: ProcessType): Readonly<Record<string, string>> {
    return this.#settings.get(type) ?? {};
  }
}

type Holder = ProcessType | "operator";
const HOLDERS: readonly Holder[] = [...PROCESS_TYPES, "operator"];

/** Every address that a fleet gives to a process: tests call processes by address, without a name. */
const ADDRESSES = Array.from({ length: 100 }, (_, n) => `IP:127.0.0.${n + 1}`);
const AUTHORITY_DAYS = 100;

/** A certificate for each type of process, and the authorities that they trust. */
export interface CertificateSet {
  readonly leaves: ReadonlyMap<Holder, IssuedCertificate>;
  /** PEM. */
  readonly trusted: string;
}

/** Makes sets of certificates, and puts one in place: the processes read the files again while they run. */
export class CertificateFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  newAuthority(name: string): CertificateAuthority {
    return new CertificateAuthority(this.#folder, name, AUTHORITY_DAYS);
  }

  /** @param days until the leaves expire: tells sets apart */
  issue(signer: CertificateAuthority, trusted: readonly CertificateAuthority[], days: number): CertificateSet {
    const issued = HOLDERS.map((holder) => {
      const names = [`DNS:${holder === "operator" ? "localhost" : hostOf(holder)}`, ...ADDRESSES];
      const id = `URI:spiffe://records.example/ns/live/sa/${holder}`;
      return [holder, signer.issue(`${holder}-${days}`, { names: [...names, id], days })] as const;
    });
    return { leaves: new Map(issued), trusted: trusted.map((each) => each.pem()).join("") };
  }

  /** Replaces the files one after the other, so a process may meanwhile find some that do not fit each other. */
  install({ leaves, trusted }: CertificateSet): void {
    for (const [holder, { cert, key }] of leaves) {
      const files = this.settingsOf(holder);
      copyFileSync(cert, files.RPC_TLS_CERT);
      copyFileSync(key, files.RPC_TLS_KEY);
      writeFileSync(files.RPC_TLS_CA, trusted);
    }
  }

  settingsOf(holder: Holder): TlsSettings {
    const file = (name: string): string => join(this.#folder, `${holder}.${name}`);
    return { RPC_TLS_CERT: file("pem"), RPC_TLS_KEY: file("key"), RPC_TLS_CA: file("ca.pem") };
  }

  /** When the certificate in the files of `holder` expires, in seconds since 1970. */
  expiryOf(holder: Holder): number {
    return new X509Certificate(readFileSync(this.settingsOf(holder).RPC_TLS_CERT)).validToDate.getTime() / 1_000;
  }
}
