import type { Grants, Person } from "@brand-records/rpc";

/** Where people of tests call from. */
export const STATED_CLIENT: Person["client"] = { address: "198.51.100.7", browser: "Firefox" };

/** Takes a grant at its word: `ana@ulap.example owner`, and perhaps the owner whose link opened the session. */
export const statedGrants: Grants = {
  async prove(grant, brandId) {
    const [email = "", role, via = null] = grant.split(" ");
    const brand = brandId === undefined ? null : ({ id: brandId, role: role === "owner" ? role : "member" } as const);
    return { email, via, limitedTo: null, brand, client: STATED_CLIENT };
  },
};
