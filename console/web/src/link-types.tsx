import { AnchorLink, ButtonLink } from "./parts/links.tsx";

/*
 * Compiled, never run: each line must be an error of the type checker. If the router's type degrades to `any`, the lines compile and the
 * build fails here.
 */
export const UNCHECKED = [
  // @ts-expect-error No screen has this path.
  () => <AnchorLink to="/developers/recievers" />,
  // @ts-expect-error The path needs a receiver's id.
  () => <ButtonLink to="/developers/receivers/$receiverId" />,
  // @ts-expect-error The page has no such filter.
  () => <AnchorLink to="/developers/receivers/$receiverId" params={{ receiverId: "rcv_1" }} search={{ stat: "failed" }} />,
];
