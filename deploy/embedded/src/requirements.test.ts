import { requireNode } from "./requirements.ts";

it.each(["18.20.8", "20.20.2", "22.18.0"])("refuses Node %s and names the version it needs", (version) => {
  expect(() => requireNode(version)).toThrow(`This is Node ${version}: 22.19 or newer is needed.`);
});

it.each(["22.19.0", "22.20.1", "24.0.0"])("accepts Node %s", (version) => {
  expect(() => requireNode(version)).not.toThrow();
});
