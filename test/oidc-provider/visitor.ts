import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

/** Whom the provider's sign-in page makes the visitor. */
export interface TestAccount {
  readonly sub: string;
  readonly email: string;
  /** Default: yes. */
  readonly verified?: "yes" | "no" | "omitted";
}

export interface Answer {
  readonly status: number;
  /** Resolved; the request's own URL unless it redirects. */
  readonly location: string;
  readonly headers: Headers;
  readonly body: string;
}

interface KeptCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** A browser without scripts: keeps cookies of each host and path, sends forms, and follows redirects one at a time. */
export class Visitor {
  /** Cookies by host and port, then by path and name. Unlike browsers it keeps the cookies of ports apart. */
  readonly #cookies = new Map<string, Map<string, KeptCookie>>();

  /** Returns name and value of each cookie that a request of a URL carries. */
  cookiesOf(url: string): Map<string, string> {
    const { pathname } = new URL(url);
    // As in section 5.1.4 of RFC 6265.
    const isCovered = ({ path }: KeptCookie): boolean => pathname === path || pathname.startsWith(path.endsWith("/") ? path : `${path}/`);
    return new Map([...this.#keptOf(url).values()].filter(isCovered).map(({ name, value }) => [name, value]));
  }

  /** Sets a cookie of all paths of a URL's host, or changes it. */
  plantCookie(url: string, name: string, value: string): void {
    this.#keptOf(url).set(`/ ${name}`, { name, value, path: "/" });
  }

  async send(url: string, form?: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const cookie = [...this.cookiesOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
    const type = form && { "content-type": "application/x-www-form-urlencoded" };
    // node:http adds no Sec-Fetch-Mode; `fetch` says with it that a script sends the request.
    const sent = request(url, { method: form === undefined ? "GET" : "POST", headers: { ...headers, ...type, cookie } });
    sent.end(form && new URLSearchParams(form).toString());
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    for (const line of response.headers["set-cookie"] ?? []) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      // Without a path, a browser takes the request's folder; the console and the test's provider always name one that matters.
      const path = /;\s*path=([^;]*)/i.exec(line)?.[1] ?? "/";
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) this.#keptOf(url).delete(`${path} ${name}`);
      else this.#keptOf(url).set(`${path} ${name}`, { name, value, path });
    }
    const received = new Headers(Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]));
    const location = new URL(received.get("location") ?? url, url).href;
    return { status: response.statusCode ?? 0, location, headers: received, body: await text(response) };
  }

  /** Sends GETs for as long as they redirect to `origin`, and returns the first URL of another origin, or the last URL. */
  async follow(url: string, origin: string): Promise<string> {
    let next = url;
    for (let redirects = 0; redirects < 10; redirects += 1) {
      if (new URL(next).origin !== origin) return next;
      const { status, location } = await this.send(next);
      if (status < 300 || status > 399) return next;
      next = location;
    }
    throw new Error(`too many redirects, at last to ${next}`);
  }

  #keptOf(url: string): Map<string, KeptCookie> {
    const { host } = new URL(url);
    const kept = this.#cookies.get(host) ?? new Map<string, KeptCookie>();
    this.#cookies.set(host, kept);
    return kept;
  }
}
