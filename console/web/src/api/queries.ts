import type { Input, Membership, OperationName, Output } from "@brand-records/console-contract";
import {
  focusManager,
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
  useSuspenseQuery,
  type UseQueryOptions,
} from "@tanstack/react-query";
import { useEffect } from "react";
import { useIdle } from "@mantine/hooks";
import { call, CallError, isOfOtherSession, isUncertain, listenToRoles } from "./call.ts";
import { shownTab, useTab } from "./tab.ts";

/** Errors that a repetition does not change. */
const isFinal = (error: Error): boolean => error instanceof CallError && error.code !== "updating" && !isUncertain(error);

/** Errors after which a page stops polling, until its tab is looked at again: the session has ended, or there is no such record. */
const isOver = (error: Error): boolean => isFinal(error) && !(error instanceof CallError && error.code === "rate_limited");

/** @param onSignedOut called for each call that the server refuses because the session has ended */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (!(error instanceof Error)) return;
    if (error instanceof CallError && error.code === "invalid_session") onSignedOut();
    // The shell then says so, shows that person, or what a member sees.
    if (isOfOtherSession(error)) void client.invalidateQueries({ queryKey: ["session.me"] });
  };
  const client = new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        networkMode: "always",
        refetchOnReconnect: true,
        // What a screen shows again is shown at once, and read again.
        staleTime: 0,
        retry: (failures, error) => !isFinal(error) && failures < 2,
      },
      // Offline a change fails at once. The default waits for the connection, then makes changes that the person has given up.
      // Results of mutations hold secrets, and would stay in the cache for five minutes.
      mutations: { networkMode: "always", gcTime: 0 },
    },
  });
  listenToRoles((brandId, role) => {
    const me = client.getQueryData<Output<"session.me">>(["session.me", {}]);
    const known = me?.memberships.find(({ brand_id }) => brand_id === brandId);
    // An owner has changed it since: the pages of the new role show with the next response, not with the next visit.
    if (known !== undefined && known.role !== role) void client.invalidateQueries({ queryKey: ["session.me"] });
  });
  return client;
}

/** The query of an operation that reads. Its key begins with the operation's name. */
export const query = <Name extends OperationName>(name: Name, input: Input<Name>) =>
  queryOptions({ queryKey: [name, input] as const, queryFn: ({ signal }) => call(name, input, { signal }) });

export function useMe() {
  return useSuspenseQuery(query("session.me", {})).data;
}

interface CurrentBrand extends Membership {
  readonly isOwner: boolean;
  /** What each call names. */
  readonly ofBrand: { readonly brand_id: string };
}

/** The brand of the tab; undefined if the person is not its member any more, or is another one than the tab's. */
export function useBrandOfTab(): CurrentBrand | undefined {
  const { email, memberships } = useMe();
  const tab = useTab();
  const brand = memberships.find(({ brand_id }) => brand_id === tab.brand_id);
  if (brand === undefined || email !== tab.email) return undefined;
  return { ...brand, isOwner: brand.role === "owner", ofBrand: { brand_id: brand.brand_id } };
}

/** The brand that the page shows. The shell shows pages for as long as there is one. */
export function useBrand(): CurrentBrand {
  const brand = useBrandOfTab();
  if (brand === undefined) throw new Error("the tab shows no brand");
  return brand;
}

/** What a call of a brand names beside the brand, which is the one that the page shows. */
export type InputInBrand<Name extends OperationName> = Omit<Input<Name>, "brand_id">;

type ReadOptions<Name extends OperationName> = Omit<
  UseQueryOptions<Output<Name>, Error, Output<Name>, readonly [Name, Input<Name>]>,
  "queryKey" | "queryFn" | "refetchInterval"
> & {
  /** In milliseconds. It may depend on what was read last. */
  readonly refetchInterval?: number | false | ((data: Output<Name> | undefined) => number | false);
  /** What the pages of a list share: while another page or filter loads, the one before shows if it has the same scope and brand. */
  readonly scope?: Readonly<Record<string, string>>;
};

/** Reads something of the brand that the page shows. */
export function useRead<Name extends OperationName>(
  name: Name,
  input: InputInBrand<Name>,
  { scope, refetchInterval = false, ...options }: ReadOptions<Name> = {},
) {
  const { ofBrand } = useBrand();
  const kept = scope && { placeholderData: whileLoading({ ...ofBrand, ...scope }) };
  return useQuery({
    ...query(name, { ...ofBrand, ...input } as Input<Name>),
    ...kept,
    ...options,
    refetchInterval: (read) => poll(typeof refetchInterval === "function" ? refetchInterval(read.state.data) : refetchInterval)(read),
  });
}

/**
 * Value for `placeholderData` of a list: the page before while another page or filter loads, if both are of the same `scope`: its brand, and what
 * else its query names, such as the receiver.
 */
export const whileLoading =
  (scope: Readonly<Record<string, string>>) =>
  <Data>(before: Data | undefined, queryBefore: { readonly queryKey: readonly unknown[] } | undefined): Data | undefined => {
    const input = queryBefore?.queryKey[1] as Readonly<Record<string, unknown>> | undefined;
    return Object.entries(scope).every(([name, value]) => input?.[name] === value) ? before : undefined;
  };

/** How long a change that was made waits for the lists that it changes. */
const READ_AGAIN_MS_MAX = 5_000;

/** How often an open page reads again what may have changed. */
export const POLL_MS = 15_000;
const POLL_AFTER_ERROR_MS = 30_000;

/** Gateways send their counts every 10 seconds. */
export const POLL_COUNTS_MS = 10_000;

/** Value for `refetchInterval`: less often after an error, and not at all once that is final. Hidden tabs do not look at all. */
export const poll =
  (ms: number | false) =>
  ({ state: { error } }: { readonly state: { readonly error: Error | null } }): number | false =>
    error === null || !ms ? ms || false : !isOver(error) && POLL_AFTER_ERROR_MS;

/** How often a list is read again, of which only the first page keeps itself current. */
export const pollFirst = (page: string | undefined, ms = POLL_MS): number | false => page === undefined && ms;

/**
 * The mutation of an operation that changes something of the brand that the page shows. It is made by the person whom the page shows, or
 * not at all. Lists named in `changes` are read again before it counts as done, so that a page never shows the state before. They are read
 * again after an error too: the change may have been made, or another person was first.
 *
 * @param isWaiting false: it counts as done at once
 */
export function useChange<Name extends OperationName>(name: Name, changes: readonly OperationName[], isWaiting = true) {
  const { ofBrand } = useBrand();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: (input: InputInBrand<Name>) => call(name, { ...ofBrand, ...input } as Input<Name>, { as: shownTab().email }),
    onSettled: async (_output, error) => {
      const read = Promise.all(changes.map((changed) => client.invalidateQueries({ queryKey: [changed] })));
      // An error shows at once. A success does not wait for a connection that has gone silent.
      if (error === null && isWaiting) await Promise.race([read, new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS_MAX))]);
    },
  });
  /** Makes the change. The callbacks end with the component. */
  const make = (
    input: InputInBrand<Name>,
    onSuccess: (output: Output<Name>) => void = () => {},
    onError: (error: Error) => void = () => {},
  ): void => mutation.mutate(input, { onSuccess, onError });
  return { ...mutation, make };
}

/** Time without use after which pages stop polling, so that an unused session can expire. */
const IDLE_MS = 30 * 60_000;

/** Pauses polling while this tab is idle, as if it were hidden. The next sign of use resumes it and reads everything again. */
export function useNoReadingWhileIdle(): void {
  const isIdle = useIdle(IDLE_MS, { initialState: false, events: ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] });
  // Undefined: whether the tab is visible counts again.
  useEffect(() => focusManager.setFocused(isIdle ? false : undefined), [isIdle]);
}
