/** Ends the event in the command. JSON is one line, so that none of its texts is a line of this word. */
const END = "EVENT";

/** The command that sends an event, byte for byte, to a program under development. The service itself calls public addresses only. */
export const sendCommand = (type: string, body: string): string =>
  [
    `cat > event.json <<'${END}'`,
    body,
    END,
    `brand-records events send ${type} --body event.json \\`,
    "  --to http://localhost:3000/hooks --secret-file secret",
  ].join("\n");
