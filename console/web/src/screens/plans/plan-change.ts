import type { Input, Output } from "@brand-records/console-contract";
import { useMutation, useQueryClient, type UseMutationResult } from "@tanstack/react-query";
import { useRef } from "react";
import { query, useChange } from "../../api/queries.ts";
import { useMe } from "../../shell/brand.tsx";

type PlanChange = "plans.update" | "plans.complete" | "plans.cancel";

/**
 * The mutation of an operation that changes a plan. Before the call, it checks that the person whom the page shows is still signed in: another
 * one may have signed in in another tab, and would be recorded as who made the change. It fails once for that person, whom the page shows from
 * then on: to try again is that person's decision.
 */
export function usePlanChange<Name extends PlanChange>(name: Name): UseMutationResult<Output<Name>, Error, Input<Name>> {
  const { email } = useMe();
  const client = useQueryClient();
  const change = useChange(name, ["plans.list"]);
  const person = useRef(email);
  return useMutation({
    mutationFn: async (input: Input<Name>) => {
      const now = await client.fetchQuery({ ...query("session.me", {}), staleTime: 0, retry: false });
      const before = person.current;
      person.current = now.email;
      if (now.email !== before) throw new Error(otherPerson(now.email, before));
      return change.mutateAsync(input);
    },
  });
}

const otherPerson = (now: string, before: string): string =>
  `Nothing was changed: ${now} is signed in now, and this page was opened by ${before}. Try again to make the change as ${now}, or sign in as ${before} first.`;
