/**
 * Request header of a call that changes something: the person whom the page shows. Another one may have signed in in another tab, with
 * which all tabs share the session, and would be recorded as who made the change. The server then refuses with `other_person`.
 */
export const PERSON_HEADER = "x-console-person";

/** Response header of a call that names a brand: the role that its person has in the brand at that moment, `owner` or `member`. */
export const ROLE_HEADER = "x-console-role";

/** An e-mail address as a header's value: it may have letters that a header cannot carry. */
export const personHeader = (email: string): Readonly<Record<string, string>> => ({ [PERSON_HEADER]: encodeURIComponent(email) });

/** Whether a header's value names a person. */
export const namesPerson = (value: string, email: string): boolean => value === encodeURIComponent(email);
