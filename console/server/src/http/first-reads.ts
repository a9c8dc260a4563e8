import type { Input, OperationName, Output } from "@brand-records/console-contract";
import { BRAND_COOKIE, type FirstRead } from "@brand-records/console-contract/protocol";
import { pageAt, type PageName } from "@brand-records/console-contract/pages";
import { readFailedRequests, readUsage, usageKey } from "@brand-records/console-contract/range-reads";
import { ATTEMPT_HOURS, FAILED_RANGE, lastHours, USAGE_RANGE } from "@brand-records/console-contract/time-ranges";
import { TIMED_OUT, withTimeout } from "@brand-records/lifecycle";
import type { Request, Response } from "express";
import { serve } from "../operations/index.ts";
import type { InBrand, SignedIn, Visitor } from "../operations/operation.ts";
import { readSession } from "../sessions.ts";
import type { CallDependencies } from "./dependencies.ts";
import { valueOfCookie, sessionCookie } from "./cookies.ts";
import { requireToken } from "./session-admission.ts";
import { visitorOf } from "./visitor.ts";

/** A page waits no longer for what it shows first: its script then reads what is missing. */
const WAIT_MS = 1_000;
/** Reads end at their deadline, and leave those that are there. This bounds what has no deadline. */
const WAIT_MS_MAX = WAIT_MS + 100;

interface Asked {
  readonly ofBrand: { readonly brand_id: string };
  /** The record of the page; empty if it names none. */
  readonly id: string;
  readonly isOwner: boolean;
  /** Whether the URL names filters or a later page of a list. */
  readonly isFiltered: boolean;
}

/** Reads an operation's output for the page. */
type Read = <Name extends OperationName>(name: Name, input: Input<Name>) => Promise<Output<Name>>;

/** What a page reads first: an operation with its input, or with what its script has in place of it in the key of its query. */
interface Reader {
  readonly name: OperationName;
  readonly input: object;
  /** Default: calls the operation with the input. */
  run?(read: Read): Promise<unknown>;
}

const readOf = <Name extends OperationName>(name: Name, input: Input<Name>): Reader => ({ name, input });

type Readers = (asked: Asked) => readonly Reader[];

const receiver: Readers = ({ ofBrand, id }) => [readOf("receivers.get", { ...ofBrand, receiver_id: id })];
const list =
  (readers: Readers): Readers =>
  (asked) =>
    asked.isFiltered ? [] : readers(asked);

/** What the page of usage reads, of the range that it shows without a choice. */
const usage = ({ brand_id }: Asked["ofBrand"]): Reader => ({
  name: "usage.get",
  input: usageKey(brand_id, USAGE_RANGE),
  run: (read) => readUsage((input) => read("usage.get", input), brand_id, USAGE_RANGE, Date.now()),
});

const failedRequests = (ofBrand: Asked["ofBrand"]): Reader => ({
  name: "requests.failed",
  input: ofBrand,
  run: (read) => readFailedRequests((input) => read("requests.failed", input), ofBrand, FAILED_RANGE, Date.now()),
});

/** What each page reads first, with the inputs of its script: another input is read again. */
const READERS: Readonly<Partial<Record<PageName, Readers>>> = {
  overview: ({ ofBrand }) => [readOf("overview.get", ofBrand)],
  keys: ({ ofBrand }) => [readOf("keys.list", ofBrand)],
  receiver: (asked) => [
    ...receiver(asked),
    readOf("deliveries.stats", { ...asked.ofBrand, receiver_id: asked.id, ...lastHours(ATTEMPT_HOURS, Date.now()) }),
    ...list(({ ofBrand, id }) => [readOf("deliveries.list", { ...ofBrand, receiver_id: id })])(asked),
  ],
  replay: (asked) => [...receiver(asked), readOf("replays.latest", { ...asked.ofBrand, receiver_id: asked.id })],
  receiverSettings: receiver,
  mail: ({ ofBrand, isOwner }) => (isOwner ? [readOf("mail.get", ofBrand)] : []),
  delivery: ({ ofBrand, id }) => [readOf("deliveries.get", { ...ofBrand, delivery_id: id })],
  events: list(({ ofBrand }) => [readOf("events.list", ofBrand)]),
  event: ({ ofBrand, id }) => [readOf("events.get", { ...ofBrand, event_id: id })],
  usage: list(({ ofBrand }) => [usage(ofBrand)]),
  requests: list(({ ofBrand }) => [readOf("requests.list", ofBrand)]),
  failedRequests: list(({ ofBrand }) => [failedRequests(ofBrand)]),
  audit: list(({ ofBrand, isOwner }) => (isOwner ? [readOf("audit.list", ofBrand), readOf("plans.list", ofBrand)] : [])),
  members: ({ ofBrand }) => [readOf("members.list", ofBrand), readOf("sign_in.options", {})],
  plans: list(({ ofBrand }) => [readOf("plans.list", { ...ofBrand, status: "pending" })]),
  plan: ({ ofBrand, id }) => [readOf("plans.get", { ...ofBrand, plan_id: id })],
};

/** A delivery's page shows its receiver, and leads to the deliveries beside it: only the delivery names their receiver. */
function besideDelivery(ofBrand: Asked["ofBrand"], reads: readonly FirstRead[]): readonly Reader[] {
  const delivery = reads.find(({ name }) => name === "deliveries.get")?.output as Output<"deliveries.get"> | undefined;
  if (delivery === undefined) return [];
  const input = { ...ofBrand, receiver_id: delivery.delivery.receiver_id };
  return [readOf("receivers.get", input), readOf("deliveries.list", input)];
}

/** The brand that the browser showed last: web/src/api/tab.ts writes it. It grants nothing. */
const brandOf = (request: Request): string | undefined => valueOfCookie(request, BRAND_COOKIE);

/**
 * Reads what a page shows first with the page itself, so that its script waits for no call. Changes nothing. Whatever cannot be read, or is
 * not allowed, is left out: the script calls for it, and shows why.
 */
export class FirstReads {
  readonly #deps: CallDependencies;

  constructor(deps: CallDependencies) {
    this.#deps = deps;
  }

  /** @returns undefined if there is nothing to read: the path is no page's, or the request has no session */
  of(request: Request, response: Response): Promise<readonly FirstRead[]> | undefined {
    const page = pageAt(request.path);
    if (page?.name === "signIn") return inTime(this.#signIn(request, response));
    const hasSession = sessionCookie(this.#deps.config.PUBLIC_URL).read(request) !== undefined;
    return page === undefined || !hasSession ? undefined : inTime(this.#signedIn(page, request, response));
  }

  async #signIn(request: Request, response: Response): Promise<FirstRead[]> {
    return this.#readAll([readOf("sign_in.options", {})], this.#visitor(request, response));
  }

  async #signedIn(page: NonNullable<ReturnType<typeof pageAt>>, request: Request, response: Response): Promise<FirstRead[]> {
    const { services, sessions } = this.#deps;
    const visitor = this.#visitor(request, response);
    const token = requireToken(visitor.sessionToken);
    const shownLast = brandOf(request);
    const { person, grants: ofLast } = await sessions.admit(token, shownLast, visitor);
    const signedIn: SignedIn = { ...visitor, call: { ...visitor.call, grants: ofLast }, person };
    const located = await this.#located(page.id, signedIn);
    const brandId = (located?.output as { readonly brand_id: string } | undefined)?.brand_id ?? shownLast;
    const brand = person.memberships.find(({ brand_id }) => brand_id === brandId) ?? person.memberships[0];
    const [whoIs] = await this.#readAll([readOf("session.me", {})], signedIn);
    const known = [whoIs, located].filter((read) => read !== undefined);
    if (brand === undefined) return known;
    const ofBrand = { brand_id: brand.brand_id };
    const { grants } = brand.brand_id === shownLast ? { grants: ofLast } : await readSession(services, token, brand.brand_id, visitor);
    const asked = { ofBrand, id: page.id ?? "", isOwner: brand.role === "owner", isFiltered: request.originalUrl.includes("?") };
    const readers = READERS[page.name]?.(asked) ?? [];
    // The frame of every page but the overview shows the disabled ones.
    const frame = page.name === "overview" ? [] : [readOf("receivers.list", ofBrand)];
    const inBrand: InBrand = { ...signedIn, call: { ...visitor.call, grants }, brand };
    const reads = await this.#readAll([...readers, ...frame], inBrand);
    return [...known, ...reads, ...(await this.#readAll(besideDelivery(ofBrand, reads), inBrand))];
  }

  /** The services, too, spend no longer on what the page does not wait for. */
  #visitor(request: Request, response: Response): Visitor {
    const visitor = visitorOf(this.#deps, request, response);
    return { ...visitor, call: { ...visitor.call, deadline: Math.min(visitor.call.deadline, Date.now() + WAIT_MS) } };
  }

  /** Links name no brand: finds that of the record, for a person of several. */
  async #located(id: string | undefined, caller: SignedIn): Promise<FirstRead | undefined> {
    if (id === undefined || caller.person.memberships.length < 2) return undefined;
    return (await this.#readAll([readOf("session.locate", { id })], caller))[0];
  }

  async #readAll(readers: readonly Reader[], caller: Visitor | InBrand): Promise<FirstRead[]> {
    const read: Read = (name, input) => serve(name, this.#deps.services, caller, input);
    const reads = await Promise.all(
      readers.map(async ({ name, input, run = (readIt) => readIt(name, input as never) }) => {
        try {
          return [{ name, input, output: await run(read) }];
        } catch {
          return [];
        }
      }),
    );
    return reads.flat();
  }
}

async function inTime(reads: Promise<readonly FirstRead[]>): Promise<readonly FirstRead[]> {
  const done = await withTimeout(
    reads.catch(() => []),
    WAIT_MS_MAX,
  );
  return done === TIMED_OUT ? [] : done;
}
