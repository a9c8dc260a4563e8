import { PAGES } from "@brand-records/console-contract/pages";
import { ownPath } from "@brand-records/console-contract/own-path";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent as lazy, redirect } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { CallError, isGone } from "./api/call.ts";
import { createQueryClient, query } from "./api/queries.ts";
import { noteSignIn, keepReturnTo } from "./api/return-to.ts";
import { pinTab, showBrand, shownTab } from "./api/tab.ts";
import { loadedPart } from "./parts/loaded-part.tsx";
import { searchOf } from "./parts/filters/search.ts";
import { deliverySearch } from "./screens/receivers/delivery-search.ts";
import { planListSearch, planSearch } from "./screens/plans/plan-pages.ts";
import { ErrorPage, NotFoundPage, OfflinePage } from "./shell/error-pages.tsx";
import { Shell } from "./shell/shell.tsx";

export const queryClient = createQueryClient(() => void showSignIn());

/** The session has ended: what it showed must not stay, and signing in leads back. */
async function showSignIn(): Promise<void> {
  const router = appRouter();
  const { location } = router.state;
  if (location.pathname === "/sign-in") return;
  await router.navigate({ to: "/sign-in", search: { return_to: location.href } });
  // Earlier would be wrong: a dialog that shows a secret stops the navigation until it is closed.
  if (router.state.location.pathname !== "/sign-in") return;
  queryClient.removeQueries({ predicate: ({ queryKey: [name] }) => !String(name).startsWith("sign_in.") });
}

interface Loading {
  readonly preload: boolean;
  readonly abortController: AbortController;
}

/** Shows the brand that a link names, or the one of the person's brands that has its record. For an unknown record the page says so. */
async function showBrandOf(recordId: string | undefined, { preload, abortController }: Loading): Promise<void> {
  // The pointer is only above the link.
  if (recordId === undefined || preload) return;
  const { memberships } = await queryClient.ensureQueryData(query("session.me", {}));
  if (memberships.every(({ brand_id }) => brand_id === shownTab().brand_id)) return;
  try {
    const isBrand = recordId.startsWith("brd_");
    const brandId = isBrand ? recordId : (await queryClient.ensureQueryData(query("session.locate", { id: recordId }))).brand_id;
    const brand = memberships.find(({ brand_id }) => brand_id === brandId);
    // The person may have gone elsewhere meanwhile: that page keeps its brand.
    if (brand !== undefined && !abortController.signal.aborted) showBrand(brand);
  } catch (error) {
    if (!(error instanceof Error && isGone(error))) throw error;
  }
}

interface SignInSearch {
  readonly return_to?: string;
  /** Why a sign-in through the provider failed: a code, and the id of the request. The page checks both. */
  readonly error?: string;
  readonly request_id?: string;
}

const signInSearch = ({ return_to, error, request_id }: Record<string, unknown>): SignInSearch => ({
  ...(return_to !== undefined && { return_to: ownPath(return_to) }),
  ...(typeof error === "string" && { error }),
  // The router reads digits as a number.
  ...((typeof request_id === "string" || typeof request_id === "number") && { request_id: String(request_id) }),
});

interface Screen {
  readonly default: ComponentType;
}

/**
 * Loads the script of a screen. If that fails, the router reloads the page, which finds a newer version. Offline, a reload would show the
 * browser's own error instead of the console, so a page of the console says what is wrong.
 */
const loaded = (load: () => Promise<Screen>) => async (): Promise<Screen> => {
  try {
    return await load();
  } catch (error) {
    if (navigator.onLine) throw error;
    return { default: loadedPart(async () => (await load()).default, undefined, OfflinePage) };
  }
};

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: signInSearch,
  // A sign-in link opens this page again, without the search.
  beforeLoad: ({ search: { return_to } }) => {
    if (return_to !== undefined) keepReturnTo(return_to);
  },
  component: lazy(loaded(() => import("./screens/sign-in/sign-in.tsx"))),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }): Promise<void> => {
    try {
      pinTab(await queryClient.ensureQueryData(query("session.me", {})));
      noteSignIn();
    } catch (error) {
      if (!(error instanceof CallError && error.code === "invalid_session")) throw error;
      throw redirect({ to: "/sign-in", search: { return_to: location.href } });
    }
  },
  component: Shell,
});

const keysSearch = searchOf("key", "page");
const noSearch = searchOf();

const mailSearch = searchOf("brand");

/** The record that an address names: by its parameter that ends with Id, or as the list of keys has it; or, as links in mail do, the brand. */
const recordIdIn = (path: string, params: Readonly<Record<string, string>>, search: object): string | undefined =>
  path === PAGES.keys.path
    ? keysSearch({ ...search }).key
    : (mailSearch({ ...search }).brand ?? Object.entries(params).find(([name]) => name.endsWith("Id"))?.[1]);

/** A screen of a signed-in person. `readSearch` drops what it does not know. */
const screen = <const Path extends string, Search extends object = {}>(
  path: Path,
  load: () => Promise<Screen>,
  readSearch: (search: Record<string, unknown>) => Search = noSearch as never,
) =>
  createRoute({
    getParentRoute: () => shell,
    path,
    validateSearch: readSearch,
    // The screen looks its brand up, not the shell: a brand that cannot be found shows as an error within the shell, which stays.
    beforeLoad: ({ params, search, ...loading }): Promise<void> => showBrandOf(recordIdIn(path, params, search), loading),
    component: lazy(loaded(load)),
  });

/** Stands outside `addChildren`, whose parameter's type would make that of every path `any`, and no link would be checked. */
const screens = [
  screen("/developers", () => import("./screens/overview/overview.tsx")),
  screen("/developers/keys", () => import("./screens/keys/keys.tsx"), keysSearch),
  screen("/developers/receivers", () => import("./screens/receivers/receivers.tsx")),
  screen("/developers/receivers/new", () => import("./screens/receivers/new-receiver.tsx")),
  screen("/developers/receivers/$receiverId", () => import("./screens/receivers/receiver.tsx"), deliverySearch),
  screen("/developers/receivers/$receiverId/replay", () => import("./screens/receivers/replay/replay.tsx")),
  screen("/developers/receivers/$receiverId/settings", () => import("./screens/receivers/settings.tsx"), searchOf("test")),
  screen("/developers/deliveries/$deliveryId", () => import("./screens/deliveries/delivery.tsx")),
  screen("/developers/events", () => import("./screens/events/events.tsx"), searchOf("type", "record_id", "from", "to", "page")),
  screen("/developers/events/$eventId", () => import("./screens/events/event.tsx")),
  screen("/developers/usage", () => import("./screens/usage/usage.tsx"), searchOf("range")),
  screen("/developers/requests", () => import("./screens/requests/requests.tsx"), searchOf("key", "route", "status", "id", "page")),
  screen(
    "/developers/requests/failed",
    () => import("./screens/requests/failed-requests.tsx"),
    searchOf("range", "key", "route", "code", "field"),
  ),
  screen("/developers/audit", () => import("./screens/audit/audit.tsx"), searchOf("actor", "action", "from", "to", "page")),
  screen("/developers/members", () => import("./screens/members/members.tsx"), searchOf("page")),
  screen("/developers/mail", () => import("./screens/mail/mail.tsx"), mailSearch),
  screen("/developers/assistants", () => import("./screens/assistants/assistants.tsx"), searchOf("client")),
  screen("/workspaces", () => import("./screens/plans/list/plan-list.tsx"), planListSearch),
  // Where the `review_path` of a prepared plan leads.
  screen("/workspaces/$type/plans/$planId", () => import("./screens/plans/plan.tsx"), planSearch),
] as const;

const routes = root.addChildren([signIn, shell.addChildren(screens)]);

const makeRouter = () =>
  createRouter({
    routeTree: routes,
    defaultPreload: "intent",
    defaultNotFoundComponent: NotFoundPage,
    defaultErrorComponent: ErrorPage,
    scrollRestoration: true,
    // What a route's validateSearch drops would reach its screen all the same.
    search: { strict: true },
  });

type AppRouter = ReturnType<typeof makeRouter>;
let router: AppRouter | undefined;

/** The page's one router, made when it is first asked for: modules are run in one go, which blocks a slow phone long enough. */
export function appRouter(): AppRouter {
  router ??= makeRouter();
  return router;
}

declare module "@tanstack/react-router" {
  interface Register {
    router: AppRouter;
  }
  interface HistoryState {
    /** The brand that was chosen with this navigation. */
    brand_id?: string;
  }
}
