import { useNavigate } from "@tanstack/react-router";
import { announce } from "../parts/status-region.tsx";
import { useForgetEverything } from "../api/brand.ts";

/** Returns what shows the sign-in page after the session has ended. Its `location` is where the browser signs out at the provider. */
export function useLeave(): (location: string | null) => Promise<void> {
  const navigate = useNavigate();
  const forgetEverything = useForgetEverything();
  return async (location) => {
    if (location !== null) {
      // The provider ends its session, too, and leads back to /sign-in.
      window.location.assign(location);
      return;
    }
    await navigate({ to: "/sign-in" });
    forgetEverything();
    announce("Signed out");
  };
}
