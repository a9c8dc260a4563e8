import type { Input, OperationName, Output } from "@brand-records/console-contract";
import {
  QueryCache,
  MutationCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
  type UseMutationResult,
} from "@tanstack/react-query";
import { call, CallError } from "./call.ts";

/** Errors that a repetition does not change. */
const isFinal = (error: unknown): boolean =>
  error instanceof CallError && !["unreachable", "unavailable", "timeout", "internal_error"].includes(error.code);

/** @param onSignedOut called for each call that the server refuses because the session has ended */
export function createQueryClient(onSignedOut: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof CallError && error.code === "invalid_session") onSignedOut();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // What a screen shows again is shown at once, and read again.
      queries: { staleTime: 0, retry: (failures, error) => !isFinal(error) && failures < 2 },
      // Results of mutations hold secrets, and would stay in the cache for five minutes.
      mutations: { gcTime: 0 },
    },
  });
}

/** The query of an operation that reads. Its key begins with the operation's name. */
export const query = <Name extends OperationName>(name: Name, input: Input<Name>) =>
  queryOptions({ queryKey: [name, input] as const, queryFn: ({ signal }) => call(name, input, signal) });

/**
 * For `placeholderData` of a list: the page before while another page or filter loads, if both are of the same `scope`: its brand, and what
 * else its query names, such as the receiver.
 */
export const whileLoading =
  (scope: Readonly<Record<string, string>>) =>
  <Data>(before: Data | undefined, queryBefore: { readonly queryKey: readonly unknown[] } | undefined): Data | undefined => {
    const input = queryBefore?.queryKey[1] as Readonly<Record<string, unknown>> | undefined;
    return Object.entries(scope).every(([name, value]) => input?.[name] === value) ? before : undefined;
  };

/**
 * The mutation of an operation that changes something. Lists named in `changes` are read again before it counts as done, so that a page
 * never shows the state before.
 */
export function useChange<Name extends OperationName>(
  name: Name,
  changes: readonly OperationName[],
): UseMutationResult<Output<Name>, Error, Input<Name>> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<Name>) => call(name, input),
    onSuccess: async () => {
      await Promise.all(changes.map((changed) => client.invalidateQueries({ queryKey: [changed] })));
    },
  });
}
