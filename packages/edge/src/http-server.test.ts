import { httpsOnly } from "./index.ts";

it.each(["https://records.example", "https://records.example:8443", "https://localhost.example"])(
  "browsers call %s over https only, which says nothing of its subdomains",
  (publicUrl) => {
    expect(httpsOnly(publicUrl)).toEqual({ "Strict-Transport-Security": "max-age=31536000" });
  },
);

it.each(["http://records.example", "http://localhost:8080", "https://localhost:8443", "https://console.localhost"])(
  "browsers that call %s are free to use http",
  (publicUrl) => {
    expect(httpsOnly(publicUrl)).toEqual({});
  },
);
