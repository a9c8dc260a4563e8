import type { Delivery } from "@brand-records/console-contract";
import { ownPath } from "@brand-records/console-contract/own-path";
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from "@tanstack/react-router";
import { CallError } from "./api/call.ts";
import { createQueryClient, query } from "./api/queries.ts";
import { chooseBrand } from "./shell/brand.tsx";
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

/** Links name no brand: shows the one of the person's brands that has the record. For an unknown record the page says so. */
async function showBrandOf(recordId: string): Promise<void> {
  const { memberships } = await queryClient.ensureQueryData(query("session.me", {}));
  if (memberships.length < 2) return;
  try {
    chooseBrand((await queryClient.ensureQueryData(query("session.locate", { id: recordId }))).brand_id);
  } catch (error) {
    if (!(error instanceof CallError && ["not_found", "invalid_request"].includes(error.code))) throw error;
  }
}

interface DeliveryFilter {
  readonly state?: Delivery["state"];
  /** The last delivery of the page before. */
  readonly after?: string;
}

const deliveryFilter = ({ state, after }: Record<string, unknown>): DeliveryFilter => ({
  ...(isDeliveryState(state) && { state }),
  ...(typeof after === "string" && { after }),
});

const isDeliveryState = (text: unknown): text is Delivery["state"] =>
  ["pending", "sending", "held", "delivered", "failed"].includes(String(text));

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
  component: lazyRouteComponent(() => import("./screens/sign-in.tsx"), "SignIn"),
});

/** Everything that needs a session. */
const shell = createRoute({
  getParentRoute: () => root,
  id: "shell",
  beforeLoad: async ({ location }): Promise<void> => {
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
      createRoute({
        getParentRoute: () => developers,
        path: "/receivers/new",
        component: lazyRouteComponent(() => import("./screens/receivers/new-receiver.tsx"), "NewReceiver"),
      }),
      createRoute({
        getParentRoute: () => developers,
        path: "/receivers/$receiverId",
        validateSearch: deliveryFilter,
        beforeLoad: ({ params }) => showBrandOf(params.receiverId),
        component: lazyRouteComponent(() => import("./screens/receivers/receiver.tsx"), "Receiver"),
      }),
      createRoute({
        getParentRoute: () => developers,
        path: "/deliveries/$deliveryId",
        beforeLoad: ({ params }) => showBrandOf(params.deliveryId),
        component: lazyRouteComponent(() => import("./screens/deliveries/delivery.tsx"), "Delivery"),
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
