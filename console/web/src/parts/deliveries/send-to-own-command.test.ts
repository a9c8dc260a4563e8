import { sendCommand } from "./send-to-own-command.ts";

it("writes the event as it was sent, whatever its texts hold, and sends that file", () => {
  const body = JSON.stringify({ id: "evt_1", data: { note: "it's $HOME `x`\nEVENT" } });
  expect(sendCommand("payout.paid", body).split("\n")).toEqual([
    "cat > event.json <<'EVENT'",
    body,
    "EVENT",
    "brand-records events send payout.paid --body event.json \\",
    "  --to http://localhost:3000/hooks --secret-file secret",
  ]);
});
