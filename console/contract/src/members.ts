import { z } from "zod";
import { member, nullable, owner, page_token, time } from "./operation.ts";

const role = z.enum(["owner", "member"], "must be owner or member");

const person = z.object({ email: z.string(), role, created_at: time });

/** The rule is that of accounts: what is no address is no subject of an audit entry. */
const email = z.email("must be an e-mail address").max(254, "must be at most 254 characters").toLowerCase();

const memberInput = { email };

/** The people of a brand. Error `last_owner` for what would leave the brand without an owner. */
export const MEMBER_OPERATIONS = {
  /** Returns members in ascending order of e-mail address, 200 a page. */
  "members.list": member({ page_token }).returns({ members: z.array(person), next_page_token: nullable(z.string()) }),
  /** Error `already_exists` for a member, whose role stays as it is. No mail is sent. */
  "members.add": owner({ ...memberInput, role }).returns({ member: person }),
  "members.set_role": owner({ ...memberInput, role }).returns({ member: person }),
  /** The person loses access with the next call. */
  "members.remove": owner(memberInput).returns({}),
  /** Removes the caller's own membership. Error `last_owner`, as above. */
  "members.leave": member().returns({}),
  /**
   * Makes a link that signs another member in, once, and opens this brand alone. Error `limited_session` in a session that such a link
   * opened; `invalid_request` for the caller's own address.
   */
  "members.link": owner(memberInput).returns({
    /** No other response has it. */
    url: z.string(),
    expires_at: time,
  }),
};
