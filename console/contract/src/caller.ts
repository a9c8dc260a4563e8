/**
 * Field of the body of a call that changes something, beside its operation's input: the e-mail address of the person whom the page shows.
 * Another one may have signed in in another tab, with which all tabs share the session, and would be recorded as who made the change. The
 * server then refuses with `other_person`.
 */
export const PERSON_FIELD = "person";

/** Response header of a call that names a brand: the role that its person has in the brand at that moment, `owner` or `member`. */
export const ROLE_HEADER = "x-console-role";
