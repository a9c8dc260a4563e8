import { cookie, type Cookie } from "./cookies.ts";

/** Holds the session's token. */
export const sessionCookie = (publicUrl: string): Cookie => cookie(publicUrl, "session");
