import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { readFileSync } from "node:fs";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import type { IssuedCertificate } from "./certificate-authority.ts";
import { eventually } from "./eventually.ts";

interface ReceivedMail {
  readonly to: readonly string[];
  /** Headers and body, without the line breaks and escapes of quoted-printable. */
  readonly text: string;
  readonly isSecure: boolean;
  /** The login that the client used; undefined without one. */
  readonly user: string | undefined;
}

/** An SMTP server that fails on demand. */
export interface MailServer {
  readonly port: number;
  /** Everything that was received whole, in order: also where the client got no reply. */
  readonly mails: ReceivedMail[];
  /** Refuses mails with this code from now on; undefined: accepts them. */
  refuse(code: number | undefined): void;
  /** Receives a mail and ends the connection before the reply, so many times. */
  loseReplies(count: number): void;
  /** Replies to no mail to this address until the function that it returns is called. */
  hold(address: string): () => void;
  /** Ends its connections, and accepts none until `start`. */
  kill(): Promise<void>;
  /** On the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface MailServerOptions {
  readonly host?: string;
  /** Offers STARTTLS with it; with `secure`, TLS from the start. */
  readonly certificate?: IssuedCertificate;
  readonly secure?: boolean;
}

export async function startMailServer({ host = "127.0.0.1", certificate, secure = false }: MailServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  let refusal: number | undefined;
  let lost = 0;
  const held = new Map<string, Promise<void>>();
  const sockets = new Set<Socket>();
  const options: SMTPServerOptions = {
    secure,
    authOptional: true,
    // A client that would show its password without TLS is to be seen doing so.
    allowInsecureAuth: true,
    disabledCommands: certificate === undefined ? ["STARTTLS"] : [],
    ...(certificate !== undefined && { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }),
    logger: false,
    closeTimeout: 1,
    onAuth: ({ username }, _session, callback) => callback(null, { user: username }),
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        if (refusal !== undefined) return callback(Object.assign(new Error("refused"), { responseCode: refusal }));
        const to = session.envelope.rcptTo.map(({ address }) => address);
        const user = session.user as string | undefined;
        mails.push({ to, text: decoded(Buffer.concat(chunks).toString("utf8")), isSecure: session.secure, user });
        if (lost === 0) return void Promise.all(to.flatMap((address) => held.get(address) ?? [])).then(() => callback());
        lost -= 1;
        endConnections();
      });
    },
  };
  let server = new SMTPServer(options);
  let port = 0;
  const endConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const listen = async (): Promise<void> => {
    server = new SMTPServer(options);
    // Clients that go away are no fault.
    server.on("error", () => {});
    server.server.on("connection", (socket) => {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await once(server.listen(port, host), "listening");
    port = (server.server.address() as AddressInfo).port;
  };
  const kill = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(resolve));
    endConnections();
    await closed;
  };
  await listen();
  return {
    get port() {
      return port;
    },
    mails,
    refuse: (code) => void (refusal = code),
    loseReplies: (count) => void (lost = count),
    hold(address) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held.set(address, promise);
      return () => {
        held.delete(address);
        resolve();
      };
    },
    kill,
    // Another process may have taken the port meanwhile.
    start: () => eventually(listen),
    stop: kill,
  };
}

const decoded = (text: string): string =>
  text.replaceAll("=\r\n", "").replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
