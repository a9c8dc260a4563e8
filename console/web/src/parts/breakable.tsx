import { Fragment, type CSSProperties } from "react";

/** Longer words may be broken in a table: it has other columns. */
const WHOLE_MAX = 10;

/**
 * A text that may be one long word: an address, a name that people have given. It breaks between its parts first, behind @, ., _ and /;
 * in a table its column is as wide as its longest part, up to a bound. Other words are never broken.
 */
export function Breakable({ of }: { readonly of: string }) {
  const parts = of.split(/(?<=[@._/])/);
  const longest = Math.max(...parts.flatMap((part) => part.split(/[\s-]/)).map(({ length }) => length));
  return (
    <bdi className="breakable" style={{ "--least": `${Math.min(longest, WHOLE_MAX) + 1}ch` } as CSSProperties}>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </bdi>
  );
}
