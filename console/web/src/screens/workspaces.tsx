import { Page } from "../parts/page.tsx";
import { EmptyState } from "../parts/states.tsx";

/** Says that this release shows no plans: a link to one is neither wrong nor another brand's. */
export const Workspaces = () => (
  <Page title="Campaign plans">
    <EmptyState title="The console does not show campaign plans yet">
      The plan that you came for is stored, and nothing happens to it until a person completes or cancels it.
    </EmptyState>
  </Page>
);
