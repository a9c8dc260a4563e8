import { Fragment } from "react";

/**
 * A text that may be one long word: an address, a name that people have given. It breaks between its parts first, behind @, . and _ and before
 * each /; in a table it has a least width. Other words are never broken.
 */
export const Breakable = ({ of }: { readonly of: string }) => (
  <bdi className="breakable">
    {of.split(/(?<=[@._])|(?=\/)/).map((part, index) => (
      <Fragment key={index}>
        {index > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </bdi>
);
