import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { CallError } from "./api/call.ts";
import { createQueryClient, query } from "./api/queries.ts";
import { ownPath } from "./own-path.ts";
import { ErrorPage, NotFoundPage } from "./shell/error-pages.tsx";
import { Shell } from "./shell/shell.tsx";

export const queryClient = createQueryClient(() => void showSignIn());

/** The session has ended: what it showed must not stay, and signing in leads back. */
async function showSignIn(): Promise<void> {
  const { location } = router.state;
  if (location.pathname === "/sign-in") return;
  queryClient.clear();
  await router.navigate({ to: "/sign-in", search: { return_to: location.href } });
}

const root = createRootRoute();

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: (search): { return_to?: string } => ("return_to" in search ? { return_to: ownPath(search["return_to"]) } : {}),
  component: lazyRouteComponent(() => import("./screens/sign-in.tsx"), "SignIn"),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }) => {
    try {
      await queryClient.ensureQueryData(query("session.me", {}));
    } catch (error) {
      if (!(error instanceof CallError && error.code === "invalid_session")) throw error;
      throw redirect({ to: "/sign-in", search: { return_to: location.href } });
    }
  },
  component: Shell,
});

const developers = createRoute({ getParentRoute: () => shell, path: "/developers" });

const routes = root.addChildren([
  createRoute({ getParentRoute: () => root, path: "/", beforeLoad: () => redirect({ to: "/developers", throw: true }) }),
  signIn,
  shell.addChildren([
    developers.addChildren([
      createRoute({
        getParentRoute: () => developers,
        path: "/",
        component: lazyRouteComponent(() => import("./screens/overview.tsx"), "Overview"),
      }),
      createRoute({
        getParentRoute: () => developers,
        path: "/keys",
        component: lazyRouteComponent(() => import("./screens/keys/keys.tsx"), "Keys"),
      }),
      createRoute({
        getParentRoute: () => developers,
        path: "/receivers",
        component: lazyRouteComponent(() => import("./screens/receivers/receivers.tsx"), "Receivers"),
      }),
    ]),
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  defaultPreload: "intent",
  defaultNotFoundComponent: NotFoundPage,
  defaultErrorComponent: ErrorPage,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
