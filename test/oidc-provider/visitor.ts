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

/** A browser without scripts: keeps cookies of each host, sends forms, and follows redirects one at a time. */
export class Visitor {
  /** Cookies by host and port, then name. Unlike browsers it keeps the cookies of ports apart. */
  readonly #cookies = new Map<string, Map<string, string>>();

  /** Returns name and value of each cookie of a URL's host. */
  cookiesOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    const kept = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, kept);
    return kept;
  }

  async send(url: string, form?: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const cookies = this.cookiesOf(url);
    const response = await fetch(url, {
      redirect: "manual",
      headers: { ...headers, cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form !== undefined && { method: "POST", body: new URLSearchParams(form) }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0|expires=thu, 01 jan 1970/i.test(line)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const location = new URL(response.headers.get("location") ?? url, url).href;
    return { status: response.status, location, headers: response.headers, body: await response.text() };
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
}
