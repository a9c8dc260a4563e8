import { pageToken, positionIn } from "./page-token.ts";

const SCOPE = ["keys", "brd_1"];
const FORM = /^(true|false) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (key_[0-9a-z]{1,40})$/;
const refusal = expect.objectContaining({ kind: "invalid_cursor" });

it("returns the parts of a position, for the list that the token is of", () => {
  const position = ["true", "2026-11-28T00:00:00.000Z", "key_1"];
  const token = pageToken(SCOPE, position);
  expect(positionIn(SCOPE, token, FORM)).toEqual(position);
  expect(() => positionIn(["keys", "brd_2"], token, FORM)).toThrow(refusal);
  expect(positionIn(SCOPE, null, FORM)).toEqual([]);
});

it.each(["2026-99-99T99:99:99.999Z", "2026-02-30T00:00:00.000Z"])(
  "refuses %s, which the database would: anyone can make a token",
  (time) => {
    expect(() => positionIn(SCOPE, pageToken(SCOPE, ["true", time, "key_1"]), FORM)).toThrow(refusal);
  },
);
