import { ownPath } from "@brand-records/console-contract/own-path";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent as lazy, redirect } from "@tanstack/react-router";
import { CallError, isGone } from "./api/call.ts";
import { createQueryClient, query } from "./api/queries.ts";
import { forgetReturnTo, keepReturnTo } from "./api/return-to.ts";
import { pinTab, showBrand, shownTab } from "./api/tab.ts";
import { searchOf } from "./parts/filters/search.ts";
import { deliverySearch } from "./screens/receivers/delivery-search.ts";
import { planListSearch, planSearch } from "./screens/plans/plan-search.ts";
import { ErrorPage, NotFoundPage } from "./shell/error-pages.tsx";
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

/** Links name no brand: shows the one of the person's brands that has the record. For an unknown record the page says so. */
async function showBrandOf(recordId: string, { preload, abortController }: Loading): Promise<void> {
  // The pointer is only above the link.
  if (preload) return;
  const { memberships } = await queryClient.ensureQueryData(query("session.me", {}));
  if (memberships.every(({ brand_id }) => brand_id === shownTab().brand_id)) return;
  try {
    const located = await queryClient.ensureQueryData(query("session.locate", { id: recordId }));
    const brand = memberships.find(({ brand_id }) => brand_id === located.brand_id);
    // The person may have gone elsewhere meanwhile: that page keeps its brand.
    if (brand !== undefined && !abortController.signal.aborted) showBrand(brand);
  } catch (error) {
    if (!(error instanceof Error && isGone(error))) throw error;
  }
}

const shownAssistant = ({ client }: Record<string, unknown>): { readonly client?: string } =>
  typeof client === "string" ? { client } : {};

/** Stand outside their routes: beside `beforeLoad`, the names would be lost from their types. */
const settingsSearch = searchOf("test");
const keysSearch = searchOf("key", "page");

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

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: signInSearch,
  // A sign-in link opens this page again, without the search.
  beforeLoad: ({ search: { return_to } }) => {
    if (return_to !== undefined) keepReturnTo(return_to);
  },
  component: lazy(() => import("./screens/sign-in/sign-in.tsx")),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }): Promise<void> => {
    try {
      pinTab(await queryClient.ensureQueryData(query("session.me", {})));
      forgetReturnTo();
    } catch (error) {
      if (!(error instanceof CallError && error.code === "invalid_session")) throw error;
      throw redirect({ to: "/sign-in", search: { return_to: location.href } });
    }
  },
  component: Shell,
});

const developers = createRoute({ getParentRoute: () => shell, path: "/developers" });
const inDevelopers = { getParentRoute: () => developers };

/** Stands outside `addChildren`, whose parameter's type would make that of every path `any`, and no link would be checked. */
const developerScreens = [
  createRoute({ ...inDevelopers, path: "/", component: lazy(() => import("./screens/overview/overview.tsx")) }),
  createRoute({
    ...inDevelopers,
    path: "/keys",
    validateSearch: keysSearch,
    beforeLoad: async ({ search: { key }, ...loading }) => {
      if (key !== undefined) await showBrandOf(key, loading);
    },
    component: lazy(() => import("./screens/keys/keys.tsx")),
  }),
  createRoute({ ...inDevelopers, path: "/receivers", component: lazy(() => import("./screens/receivers/receivers.tsx")) }),
  createRoute({ ...inDevelopers, path: "/receivers/new", component: lazy(() => import("./screens/receivers/new-receiver.tsx")) }),
  createRoute({
    ...inDevelopers,
    path: "/receivers/$receiverId",
    validateSearch: deliverySearch,
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.receiverId, loading),
    component: lazy(() => import("./screens/receivers/receiver.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/receivers/$receiverId/replay",
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.receiverId, loading),
    component: lazy(() => import("./screens/receivers/replay/replay.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/receivers/$receiverId/settings",
    validateSearch: settingsSearch,
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.receiverId, loading),
    component: lazy(() => import("./screens/receivers/settings.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/deliveries/$deliveryId",
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.deliveryId, loading),
    component: lazy(() => import("./screens/deliveries/delivery.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/events",
    validateSearch: searchOf("type", "record_id", "from", "to", "page"),
    component: lazy(() => import("./screens/events/events.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/events/$eventId",
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.eventId, loading),
    component: lazy(() => import("./screens/events/event.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/usage",
    validateSearch: searchOf("range"),
    component: lazy(() => import("./screens/usage/usage.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/requests",
    validateSearch: searchOf("range", "key", "route", "code", "field"),
    component: lazy(() => import("./screens/requests/failed-requests.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/audit",
    validateSearch: searchOf("actor", "action", "from", "to", "page"),
    component: lazy(() => import("./screens/audit/audit.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/members",
    validateSearch: searchOf("page"),
    component: lazy(() => import("./screens/members/members.tsx")),
  }),
  createRoute({
    ...inDevelopers,
    path: "/assistants",
    validateSearch: shownAssistant,
    component: lazy(() => import("./screens/assistants/assistants.tsx")),
  }),
] as const;

const workspaces = createRoute({ getParentRoute: () => shell, path: "/workspaces" });
const inWorkspaces = { getParentRoute: () => workspaces };

const workspaceScreens = [
  createRoute({
    ...inWorkspaces,
    path: "/",
    validateSearch: planListSearch,
    component: lazy(() => import("./screens/plans/list/plan-list.tsx")),
  }),
  // Where the `review_path` of a prepared plan leads.
  createRoute({
    ...inWorkspaces,
    path: "/$type/plans/$planId",
    validateSearch: planSearch,
    beforeLoad: ({ params, ...loading }) => showBrandOf(params.planId, loading),
    component: lazy(() => import("./screens/plans/plan.tsx")),
  }),
] as const;

const routes = root.addChildren([
  signIn,
  shell.addChildren([developers.addChildren(developerScreens), workspaces.addChildren(workspaceScreens)]),
]);

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
