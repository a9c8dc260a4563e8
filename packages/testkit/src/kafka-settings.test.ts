import { newClusterId } from "./kafka-settings.ts";

it("makes cluster ids of 16 bytes that a command line never reads as an option", () => {
  for (const id of Array.from({ length: 1_000 }, newClusterId)) {
    expect(id).toMatch(/^[A-Za-f][A-Za-z0-9_-]{21}$/);
  }
});
