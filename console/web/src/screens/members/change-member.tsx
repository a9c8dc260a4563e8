import type { Member } from "@brand-records/console-contract";
import { Text } from "@mantine/core";
import { useBrand, useMe } from "../../api/queries.ts";
import { Dialog, Done } from "../../parts/dialog.tsx";
import { ROLE_MEANINGS } from "./roles.ts";
import { ConfirmChange } from "../../parts/confirm-dialog.tsx";
import { Hint } from "../../parts/states.tsx";

/** Makes a member an owner, or an owner a member. */
export function ChangeRole({ member: { email, role }, onClose }: { readonly member: Member; onClose(): void }) {
  const isSelf = useMe().email === email;
  const to = role === "owner" ? "member" : "owner";
  return (
    <ConfirmChange
      title={to === "owner" ? "Make this member an owner?" : "Make this owner a member?"}
      operation="members.set_role"
      input={{ email, role: to }}
      changes={isSelf ? ["session.me", "members.list"] : ["members.list"]}
      done={`${email} is ${to === "owner" ? "an owner" : "a member"} now`}
      action={to === "owner" ? "Make an owner" : "Make a member"}
      unknownOutcome="The role may have been changed all the same: the list shows it."
      onClose={onClose}
    >
      <Text>
        <strong>{email}</strong> becomes {to === "owner" ? "an owner" : "a member"}, with the next click.{" "}
        {to === "owner" ? "An owner" : "A member"} has these rights: {ROLE_MEANINGS[to]}
      </Text>
      {to === "member" && (
        <Hint>
          Sign-in links that {isSelf ? "you" : "this person"} made for others, and their sessions, end.
          {isSelf && " Only another owner can make you an owner again."}
        </Hint>
      )}
    </ConfirmChange>
  );
}

/** Removes another member. */
export function RemoveMember({ member: { email, role }, onClose }: { readonly member: Member; onClose(): void }) {
  const { brand_name } = useBrand();
  return (
    <ConfirmChange
      title="Remove this member?"
      operation="members.remove"
      input={{ email }}
      changes={["members.list"]}
      done={`${email} removed`}
      action="Remove member"
      isDangerous
      unknownOutcome="The person may have been removed all the same: the list shows it."
      onClose={onClose}
    >
      <Text>
        <strong>{email}</strong> loses access to {brand_name} with the next click.
      </Text>
      <Hint>
        API keys that this person created keep working: revoke those that no one else needs.
        {role === "owner" && " Sign-in links that this person made for others, and their sessions, end."}
      </Hint>
    </ConfirmChange>
  );
}

/** Ends one's own membership. The session, which is read again, leads away: to another brand, or to the sign-in page. */
export function LeaveBrand({ member: { role }, onClose }: { readonly member: Member; onClose(): void }) {
  const { brand_name } = useBrand();
  const { memberships } = useMe();
  return (
    <ConfirmChange
      title={`Leave ${brand_name}?`}
      operation="members.leave"
      input={{}}
      changes={["session.me"]}
      action="Leave"
      isDangerous
      unknownOutcome="You may have left all the same: load the page again to see."
      onClose={onClose}
    >
      <Text>
        You lose access to {brand_name} at once{memberships.length === 1 && ", and are signed out"}. Only an owner can add you again.
      </Text>
      <Hint>
        API keys that you created keep working: revoke those that no one else needs.
        {role === "owner" && " Sign-in links that you made for others, and their sessions, end."}
      </Hint>
    </ConfirmChange>
  );
}

/** Says to the only owner why leaving and stepping down must wait, and what comes first. */
export function LastOwner({ act, onClose }: { readonly act: string; onClose(): void }) {
  const { brand_name } = useBrand();
  return (
    <Dialog title={act === "leave" ? `You cannot leave ${brand_name} yet` : "You cannot become a member yet"} onClose={onClose}>
      <Text>
        You are the only owner. {act === "leave" ? "Leaving" : "Becoming a member"} would leave the brand without an owner, so it is
        refused.
      </Text>
      <Hint>Make another member an owner first, with “Change role” in their row.</Hint>
      <Done onClose={onClose} />
    </Dialog>
  );
}
