import { z } from "zod";
import { brandInput, page_token, time, type Operation } from "./operation.ts";

const role = z.enum(["owner", "member"], "must be owner or member");

const member = z.object({ email: z.string(), role, created_at: time });

/** The rule is that of accounts: what is no address is no subject of an audit entry. */
const email = z.email("must be an e-mail address").max(254, "must be at most 254 characters").toLowerCase();

const memberInput = { ...brandInput, email } as const;

/** The people of a brand. Error `last_owner` for what would leave the brand without an owner. */
export const MEMBER_OPERATIONS = {
  /** Returns members in ascending order of e-mail address, 200 a page. */
  "members.list": {
    needs: "member",
    input: z.strictObject({ ...brandInput, page_token }),
    output: z.object({ members: z.array(member), next_page_token: z.string().nullable() }),
  },
  /** Error `already_exists` for a member, whose role stays as it is. No mail is sent. */
  "members.add": { needs: "owner", input: z.strictObject({ ...memberInput, role }), output: z.object({ member }) },
  "members.set_role": { needs: "owner", input: z.strictObject({ ...memberInput, role }), output: z.object({ member }) },
  /** The person loses access with the next call. */
  "members.remove": { needs: "owner", input: z.strictObject(memberInput), output: z.object({}) },
  /** Removes the caller's own membership. Error `last_owner`, as above. */
  "members.leave": { needs: "member", input: z.strictObject(brandInput), output: z.object({}) },
  /**
   * Makes a link that signs another member in, once, and opens this brand alone. Error `limited_session` in a session that such a link
   * opened; `invalid_request` for the caller's own address.
   */
  "members.link": {
    needs: "owner",
    input: z.strictObject(memberInput),
    output: z.object({
      /** No other response has it. */
      url: z.string(),
      expires_at: time,
    }),
  },
} as const satisfies Record<string, Operation>;
