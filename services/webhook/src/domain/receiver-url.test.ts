import fc from "fast-check";
import { readReceiverUrl, type UrlProblem } from "./receiver-url.ts";

const wordsOf = (text: string): string[] => text.trim().split(/\s+/);
const NO_PORTS = new Set<number>();
const read = (text: string, ports: ReadonlySet<number> = NO_PORTS) => readReceiverUrl(text, { ports });
const kindsOf = (text: string, ports?: ReadonlySet<number>): readonly UrlProblem["kind"][] => {
  const result = read(text, ports);
  return "problems" in result ? result.problems.map(({ kind }) => kind) : [];
};

describe("accepts, and normalises as URL does,", () => {
  it.each([
    ["https://hooks.brand.example", "https://hooks.brand.example/"],
    ["https://hooks.brand.example/events?token=a%20b&c=d", "https://hooks.brand.example/events?token=a%20b&c=d"],
    ["HTTPS://Hooks.Brand.EXAMPLE/Events", "https://hooks.brand.example/Events"],
    ["  https://hooks.brand.example/ ", "https://hooks.brand.example/"],
    ["\u00a0https://hooks.brand.example/\t\n", "https://hooks.brand.example/"],
    ["https://hooks.brand.example:443/", "https://hooks.brand.example/"],
    ["https://hooks.brand.example/a/../b/./c", "https://hooks.brand.example/b/c"],
    ["https://hooks.brand.example./x", "https://hooks.brand.example/x"],
    ["https://xn--bcher-kva.example./", "https://xn--bcher-kva.example/"],
    ["https://hooks.brand.example.:443/", "https://hooks.brand.example/"],
    ["https://8.8.8.8./x", "https://8.8.8.8/x"],
    ["https://home.brand.example/", "https://home.brand.example/"],
    ["https://lan.example/", "https://lan.example/"],
    ["https://mycorp.example/", "https://mycorp.example/"],
    ["https://my-home.example/", "https://my-home.example/"],
    ["https://bücher.example/ü?ü", "https://xn--bcher-kva.example/%C3%BC?%C3%BC"],
    ["https://例え.テスト/受信", "https://xn--r8jz45g.xn--zckzah/%E5%8F%97%E4%BF%A1"],
    ["https://ＢＲＡＮＤ．example/", "https://brand.example/"],
    ["https://brand。example/", "https://brand.example/"],
    ["https://faß.example/", "https://xn--fa-hia.example/"],
    ["https://8.8.8.8/x", "https://8.8.8.8/x"],
    ["https://0x08.0x08.010.010/", "https://8.8.8.8/"],
    ["https://[2606:4700:4700:0::1111]/", "https://[2606:4700:4700::1111]/"],
    ["https://a_b.example/", "https://a_b.example/"],
    ["https://localhost.brand.example/", "https://localhost.brand.example/"],
    ["https://internal.brand.example/", "https://internal.brand.example/"],
    ["https://not-local.example/", "https://not-local.example/"],
    ["https://home.arpa.example/", "https://home.arpa.example/"],
    ["https://xlocalhost.example/", "https://xlocalhost.example/"],
    ["https://127.0.0.1.example/", "https://127.0.0.1.example/"],
    ["https://10.0.0.1x.example/", "https://10.0.0.1x.example/"],
    ["https://hooks.brand.example/@x:y@z", "https://hooks.brand.example/@x:y@z"],
    [`https://${"a".repeat(63)}.example/`, `https://${"a".repeat(63)}.example/`],
  ])("%s", (text, href) => expect(read(text)).toEqual({ href }));
});

describe("stores one spelling of a URL:", () => {
  it.each([
    ["/%65vents", "/events"],
    ["/%45vents", "/Events"],
    ["/%61%62%63%30%39%2d%2e%5F%7e", "/abc09-._~"],
    ["/a?%74oken=%31", "/a?token=1"],
    ["/a?b=c%2fd%3d", "/a?b=c%2Fd%3D"],
    ["/%c3%bc", "/%C3%BC"],
    ["/ü", "/%C3%BC"],
    // Characters that would change the meaning stay escaped.
    ["/a%3fb%23c%25d%3bz%26%2b%20", "/a%3Fb%23c%25d%3Bz%26%2B%20"],
    ["/%2565vents", "/%2565vents"],
    ["/a%0ab%00", "/a%0Ab%00"],
    ["/%80%ff", "/%80%FF"],
    // The parser already reads these as dot segments, and no other segment becomes one.
    ["/a/%2e%2E/b", "/b"],
    ["/a/.%2e/b", "/b"],
    ["/a/%2e/b", "/a/b"],
    ["/a/%2e%2e%2e/b", "/a/.../b"],
    ["/a/x%2e%2e/b", "/a/x../b"],
    ["/a?%2e%2e", "/a?.."],
    ["//%61//", "//a//"],
    ["/?", "/?"],
    // A % that escapes nothing: decoding the characters after it would make it an escape.
    ["/%%36%35", "/%%36%35"],
    ["/%4%31", "/%4%31"],
    ["/%zz%65", "/%zz%65"],
    ["/%61?%%36%35", "/a?%%36%35"],
    ["/%", "/%"],
  ])("%s is stored as %s", (written, stored) => {
    expect(read(`https://hooks.brand.example${written}`)).toEqual({ href: `https://hooks.brand.example${stored}` });
    // Normalising the stored spelling again changes nothing.
    expect(read(`https://hooks.brand.example${stored}`)).toEqual({ href: `https://hooks.brand.example${stored}` });
  });

  it("that means the same: a server decodes the same path and query", () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(escapes, fc.constantFrom("a", "/", ".", "%", "?", "=", "&", "~", "+")), { maxLength: 12 }), (parts) => {
        const text = `https://hooks.brand.example/x${parts.join("")}`;
        const result = read(text);
        const [before, after] = [new URL(text), new URL("href" in result ? result.href : "")];
        expect(decoded(after.pathname.split("/"))).toEqual(decoded(before.pathname.split("/")));
        expect(decoded(after.search.split(/[&=+]/))).toEqual(decoded(before.search.split(/[&=+]/)));
        expect(read(after.href)).toEqual({ href: after.href });
      }),
      { numRuns: 2_000 },
    );
  });
  const escapes = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.boolean()).map(([byte, upper]) => {
    const hex = byte.toString(16).padStart(2, "0");
    return `%${upper ? hex.toUpperCase() : hex}`;
  });
  /** Decodes byte by byte, as servers do with the text between separators. */
  const decoded = (texts: readonly string[]): string[] =>
    texts.map((text) => text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCodePoint(Number.parseInt(hex, 16))));
});

describe("refuses as invalid_request", () => {
  it.each([
    ["text that is not a URL", "hooks"],
    ["an empty text", ""],
    ["no scheme", "hooks.brand.example/events"],
    ["slashes without a scheme", "//hooks.brand.example/events"],
    ["no host", "https://"],
    ["slashes without a host", "https:///"],
    ["a port without a host", "https://:443/"],
    ["a query without a host", "https://?x"],
    ["a host that is only a dot", "https://./"],
    ["an empty label", "https://a..example/"],
    ["an empty first label", "https://.brand.example/"],
    ["two dots at the end", "https://brand.example../"],
    ["a label of 64", `https://${"a".repeat(64)}.example/`],
    ["a name of more than 253", `https://${"a.".repeat(125)}example/`],
    ["numbers that are not an address", "https://256.256.256.256/"],
    ["five numbers", "https://1.2.3.4.5/"],
    ["a user name", "https://ana@hooks.brand.example/"],
    ["a password", "https://:secret@hooks.brand.example/"],
    ["a user name and a password", "https://ana:secret@hooks.brand.example/"],
    ["a fragment", "https://hooks.brand.example/#events"],
    ["an empty fragment", "https://hooks.brand.example/#"],
    ["a space", "https://hooks.brand.example/a b"],
    ["a tab within", "https://hooks.brand.ex\tample/"],
    ["a line break within", "https://hooks.brand.example/a\nb"],
    ["a NUL", "https://hooks.brand.example/\0"],
    ["a no-break space within", "https://hooks.brand.example/\u00a0a"],
    ["a lone surrogate", "https://hooks.brand.example/\ud800"],
    ["another port", "https://hooks.brand.example:8443/"],
    ["port 80", "https://hooks.brand.example:80/"],
    ["port 0", "https://hooks.brand.example:0/"],
    ["a port above 65535", "https://hooks.brand.example:65536/"],
  ])("%s", (_, text) => expect(kindsOf(text)).toEqual(["invalid_request"]));

  it("2,049 characters, and accepts 2,048", () => {
    const [longest, longer] = [2_048, 2_049].map((length) => "https://hooks.brand.example/".padEnd(length, "x"));
    expect(read(longest ?? "")).toEqual({ href: longest });
    expect(kindsOf(longer ?? "")).toEqual(["invalid_request"]);
  });

  it("more than 2,048 characters once encoded, and accepts 2,048", () => {
    const host = "https://hooks.brand.example/";
    const encoded = "%C3%BC".length;
    const room = 2_048 - host.length;
    const fits = host + "ü".repeat(Math.floor(room / encoded)) + "x".repeat(room % encoded);
    expect(read(fits)).toEqual({ href: expect.stringMatching(/^.{2048}$/) });
    expect(kindsOf(`${fits}x`)).toEqual(["invalid_request"]);
  });
});

describe("ports", () => {
  it("accepts 443 and the configured ports only", () => {
    const ports = new Set([8443, 9443]);
    for (const port of [443, 8443, 9443]) expect(kindsOf(`https://hooks.brand.example:${port}/`, ports)).toEqual([]);
    for (const port of [0, 1, 80, 444, 8442, 8444, 65_535]) {
      expect([port, kindsOf(`https://hooks.brand.example:${port}/`, ports)]).toEqual([port, ["invalid_request"]]);
    }
  });

  it("names the allowed ports", () => {
    expect(read("https://hooks.brand.example:1/")).toMatchObject({ problems: [{ message: "must use port 443" }] });
    expect(read("https://hooks.brand.example:1/", new Set([8443]))).toMatchObject({
      problems: [{ message: "must use one of the ports 443, 8443" }],
    });
  });

  it("refuses private addresses on configured ports, too", () => {
    expect(kindsOf("https://127.0.0.1:8443/", new Set([8443]))).toEqual(["private_address"]);
  });
});

it.each(
  wordsOf(`
  http://hooks.brand.example/ HTTP://hooks.brand.example/ http://hooks.brand.example:443/ http://hooks.brand.example:8080/
  ftp://hooks.brand.example/ ws://hooks.brand.example/ wss://hooks.brand.example/ hooks.brand.example:443/events mailto:ana@brand.example
  javascript:alert(1) data:text/plain,x file:///etc/passwd unix:/run/x.sock`),
)("refuses %s as not_https", (text) => {
  expect(kindsOf(text)).toEqual(["not_https"]);
});

/** Hosts that are not public, in every spelling a URL parser understands. */
const PRIVATE_HOSTS = [
  // 127.0.0.1
  ...wordsOf(`
    127.0.0.1 127.0.0.1. 127.1 127.0.1 127.00.0.1 127.0.0.01 0177.0.0.1 0177.1 017700000001 0x7f.0.0.1 0X7F.0.0.1 0x7f.1 0x7f000001
    0x7F000001. 2130706433 2130706433. 127.0x1 0x7f.0.01 %31%32%37.0.0.1 127%2e0%2e0%2e1 １２７.0.0.1 １２７．０．０．１ ①②⑦.⓪.⓪.① 127。0。0。1 127｡1
    𝟏𝟐𝟕.𝟎.𝟎.𝟏 0x７f.1 127.0.0.\u00ad1 127.255.255.254`),
  // Other IPv4 addresses that are not public
  ...wordsOf(`
    0 0.0.0.0 0x0 00 0.1 10.0.0.1 10.1 167772161 012.0.0.1 0xa.1 100.64.0.1 100.100.100.200 168.63.129.16 0xa83f8110 169.254.169.254
    169.254.43518 0xa9fea9fe 2852039166 025177524776 0251.0376.0251.0376 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1
    192.168.0.1 192.168.1 192.11010049 3232235521 0xc0a80001 198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 240.0.0.1 255.255.255.255
    4294967295 0xffffffff`),
  // IPv6
  ...wordsOf(`
    [::] [::1] [0:0:0:0:0:0:0:1] [::0001] [::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:169.254.169.254]
    [0:0:0:0:0:ffff:10.0.0.1] [::ffff:8.8.8.8] [::ffff:0:7f00:1] [64:ff9b::7f00:1] [64:ff9b::169.254.169.254] [64:ff9b:1::1]
    [2002:7f00:1::] [2002:a9fe:a9fe::1] [2001::1] [2001:db8::1] [3fff::1] [100::1] [4000::1] [fc00::1] [fd00:ec2::254] [fe80::1]
    [FE80::1] [fec0::1] [ff02::1]`),
  // Zones: no public address has one
  ...wordsOf(`
    [fe80::1%eth0] [fe80::1%25eth0] [::1%25lo] [2606:4700:4700::1111%251]`),
  // Names
  ...wordsOf(`
    localhost LOCALHOST LocalHost. ｌｏｃａｌｈｏｓｔ ⓛⓞⓒⓐⓛⓗⓞⓢⓣ local\u00adhost %6c%6f%63%61%6c%68%6f%73%74 app.localhost app.localhost.
    a.b.LOCALHOST intranet intranet. db 例え printer.local printer.LOCAL. printer。local metadata.google.internal metadata.google.internal.
    ip-10-0-0-1.ec2.internal host.docker.internal nas.home.arpa nas.home.arpa. home.arpa local internal nas.lan nas.lan. NAS.LAN
    intranet.corp a.b.corp. router.home lan corp home`),
];

it.each(PRIVATE_HOSTS)("refuses https://%s/ as private_address", (host) => {
  expect(kindsOf(`https://${host}/`)).toEqual(["private_address"]);
  expect(kindsOf(`https://${host}:443/events?x=y`)).toEqual(["private_address"]);
});

describe("refuses as chat_webhook", () => {
  it.each(
    wordsOf(`
    https://hooks.slack.com/services/T0/B0/x https://hooks.slack.com/workflows/T0/A0/1/x https://hooks.slack.com/triggers/T0/1/x
    https://HOOKS.Slack.COM/services/T0/B0/x https://hooks.slack.com./services/T0/B0/x https://ｈｏｏｋｓ.slack.com/services/T0/B0/x
    https://hooks.slack.com https://hooks.slack-gov.com/services/T0/B0/x https://discord.com/api/webhooks/1/x
    https://discord.com./api/webhooks/1/x https://DISCORD.com/API/Webhooks/1/x https://discord.com/api/v10/webhooks/1/x
    https://discord.com/api//webhooks/1/x https://discord.com/api/%77ebhooks/1/x https://discord.com/x/../api/webhooks/1/x
    https://discordapp.com/api/webhooks/1/x https://ptb.discord.com/api/webhooks/1/x https://canary.discord.com/api/webhooks/1/x
    https://canary.discordapp.com/api/webhooks/1/x https://discord.com/api/webhooks/1/x/slack
    https://brand.webhook.office.com/webhookb2/x/IncomingWebhook/y/z https://BRAND.webhook.office.com./webhookb2/x
    https://outlook.office.com/webhook/x/IncomingWebhook/y/z https://outlook.office365.com/webhook/x
    https://prod-12.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke?sig=y
    https://default1.2f.environment.api.powerplatform.com/powerautomate/automations/direct/workflows/x/triggers/manual/paths/invoke
    https://chat.googleapis.com/v1/spaces/A/messages?key=x&token=y https://chat.googleapis.com./v1/spaces/A/messages`),
  )("%s", (text) => expect(kindsOf(text)).toEqual(["chat_webhook"]));

  it("but not a URL that only resembles one", () => {
    for (const text of [
      "https://hooks.slack.com.brand.example/services/T0/B0/x",
      "https://slack.com/api/chat.postMessage",
      "https://xhooks.slack.com/services/x",
      "https://discord.com/developers",
      "https://discord.com.brand.example/api/webhooks/1/x",
      "https://notdiscord.com/api/webhooks/1/x",
      "https://discord.brand.example/api/webhooks/1/x",
      "https://webhook.office.com.brand.example/x",
      "https://outlook.office.com/mail",
      "https://outlook.office.com/webhooks-of-mine",
      "https://mylogic.azure.com/workflows/x",
      "https://prod-12.westeurope.logic.azure.com/",
      "https://make.powerplatform.com/",
      "https://chat.googleapis.com/v2/x",
      "https://hooks.brand.example/?to=https://hooks.slack.com/services/x",
      "https://hooks.brand.example/discord.com/api/webhooks/1/x",
      "https://discord.com/api/%ff/webhooks",
    ]) {
      expect([text, kindsOf(text)]).toEqual([text, []]);
    }
  });

  it("and points to the relay", () => {
    expect(read("https://hooks.slack.com/services/x")).toMatchObject({ problems: [{ message: expect.stringContaining("relay") }] });
  });
});

it("reports every problem, the deciding one first", () => {
  expect(kindsOf("http://ana@127.0.0.1:81/#x")).toEqual(["not_https", "private_address", "invalid_request", "invalid_request"]);
  expect(kindsOf("http://localhost/")).toEqual(["not_https", "private_address"]);
  expect(kindsOf("http://hooks.slack.com/services/x")).toEqual(["chat_webhook", "not_https"]);
  expect(kindsOf("https://ana@[::1]:81/")).toEqual(["private_address", "invalid_request", "invalid_request"]);
});

it("reports problems without any part of the URL", () => {
  for (const text of [
    "http://tok3n:tok3n@tok3n.local:81/tok3n?tok3n#tok3n",
    "tok3n",
    "https://tok3n tok3n",
    `https://hooks.slack.com/tok3n`,
    `https://x.example/${"tok3n".repeat(500)}`,
    "https://a..tok3n/",
    "https://[tok3n]/",
  ]) {
    const result = read(text);
    expect("problems" in result && result.problems.length > 0).toBe(true);
    expect(JSON.stringify(result)).not.toContain("tok3n");
  }
});

describe("loopback URLs", () => {
  const readWithLoopback = (text: string) => readReceiverUrl(text, { ports: NO_PORTS, loopback: true });

  it.each([
    "http://127.0.0.1:8787/",
    "https://127.0.0.1/",
    "http://127.200.1.2/in?token=x",
    "http://[::1]:9000/",
    "http://localhost:3000/events",
    "https://localhost:8443/",
    "http://brand.localhost:3000/",
    "http://2130706433:80/",
    "http://LOCALHOST./",
  ])("accepts %s only if loopback is allowed", (text) => {
    expect(readWithLoopback(text)).toEqual({ href: new URL(text).href.replace("localhost./", "localhost/") });
    expect(read(text)).toHaveProperty("problems");
  });

  it.each([
    ["http://hooks.brand.example/", "not_https"],
    ["https://hooks.brand.example:8443/", "invalid_request"],
    ["https://10.0.0.1/", "private_address"],
    ["http://10.0.0.1/", "not_https"],
    ["http://169.254.169.254/", "not_https"],
    ["https://[::ffff:127.0.0.1]/", "private_address"],
    ["https://[fe80::1]/", "private_address"],
    ["https://0.0.0.0/", "private_address"],
    ["https://machine.local/", "private_address"],
    ["https://localhost.brand/", undefined],
    ["https://notlocalhost/", "private_address"],
    ["ftp://127.0.0.1/", "not_https"],
    ["http://user:pass@127.0.0.1/", "invalid_request"],
    ["http://127.0.0.1/#x", "invalid_request"],
  ])("allows nothing else: %s is %s", (text, kind) => {
    const result = readWithLoopback(text);
    expect("problems" in result ? result.problems[0].kind : undefined).toBe(kind);
  });
});
