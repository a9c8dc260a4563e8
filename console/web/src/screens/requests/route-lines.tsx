import { Breakable } from "../../parts/breakable.tsx";
import { Lines } from "../../parts/rows.tsx";
import { routeText } from "./route-text.ts";

/** A route as people know it: the tool, or method and path. */
export function RouteLines({ route }: { readonly route: string }) {
  const { name, of } = routeText(route);
  return (
    <Lines>
      <code>
        <Breakable of={name} />
      </code>
      {of !== undefined && <span>{of}</span>}
    </Lines>
  );
}
