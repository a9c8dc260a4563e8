/** What a console says of an operation that it, or a service of an earlier release, does not have: all releases in the same words, by which a newer page recognises it. */
export const NO_SUCH_OPERATION = "The console has no such operation. Reload the page.";
