import { AnchorLink } from "../links.tsx";

/** Where a receiver's pages belong. */
export const ReceiversLink = () => (
  <AnchorLink to="/developers/receivers" size="sm">
    Receivers
  </AnchorLink>
);
