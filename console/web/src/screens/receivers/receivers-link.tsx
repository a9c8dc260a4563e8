import { Anchor } from "@mantine/core";
import { Link } from "@tanstack/react-router";

/** Where a receiver's pages belong. */
export const ReceiversLink = () => (
  <Anchor component={Link} to="/developers/receivers" size="sm">
    Receivers
  </Anchor>
);
