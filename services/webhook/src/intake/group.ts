/** Processes of one group share the messages of the log. */
export const GROUP = "webhook";
