import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";

/** One promise: docs/settings.md has every setting, and the chart and the units of deploy/systemd use them. */

const page = readFileSync("docs/settings.md", "utf8");

it("is what the schemas say, with a text for each setting, as are the names that the chart takes: npm run settings writes them", async () => {
  // A process of its own: the schemas are those of the compiled processes.
  await promisify(execFile)(process.execPath, ["scripts/settings.js", "--check"]);
});

describe("deploy/systemd", () => {
  const folder = "deploy/systemd";
  const units = readdirSync(folder)
    .filter((name) => name.endsWith(".service"))
    .map((file) => {
      const text = readFileSync(`${folder}/${file}`, "utf8");
      return { process: /-(\w+)\.service$/.exec(file)?.[1] ?? "", text, settings: assignments(text) };
    });

  it("has a unit for every process", () => {
    expect(units.map(({ process }) => process).toSorted()).toEqual([...readdirSync("services"), "console", "gateway"].toSorted());
    for (const { text } of units) {
      const [, main = ""] = /^ExecStart=\/usr\/bin\/node --enable-source-maps (\S+)$/m.exec(text) ?? [];
      expect(() => readFileSync(main)).not.toThrow();
    }
  });

  it("gives each process settings that it has, every required one, and secrets as credentials only", () => {
    for (const { process, settings } of units) {
      const known = settingsOf(process);
      for (const [name] of settings) expect([process, [...known.keys()]]).toEqual([process, expect.arrayContaining([withoutFile(name)])]);
      const set = new Set([...settings.keys()].map(withoutFile));
      for (const [name, { isRequired, isSecret }] of known) {
        if (isRequired) expect([process, [...set]]).toEqual([process, expect.arrayContaining([name])]);
        if (isSecret) expect([process, [...settings.keys()]]).not.toEqual([process, expect.arrayContaining([name])]);
      }
    }
  });

  it("reads the process's own file last, as systemd does: the unit, then its drop-ins, the later value wins", () => {
    const dropIns = readdirSync(`${folder}/brand-records-.service.d`).toSorted();
    const common = dropIns.map((file) => readFileSync(`${folder}/brand-records-.service.d/${file}`, "utf8"));
    for (const { process, text } of units) {
      const files = [...[text, ...common].join("\n").matchAll(/^EnvironmentFile=(.*)$/gm)].map(([, file]) => file);
      expect(files).toEqual(["-/etc/brand-records/common.env", `-/etc/brand-records/${process}.env`]);
    }
  });

  it("lets each process read its own TLS key, which is no credential: a renewed one must arrive", () => {
    const dropIn = readFileSync(`${folder}/tls.conf`, "utf8");
    const tls = ["CERT:cert.pem", "KEY:key.pem", "CA:ca.pem"].map((each) => each.split(":"));
    const folderOf = "/etc/brand-records/tls/%j/";
    expect([...assignments(dropIn)]).toEqual(tls.map(([name, file]) => [`RPC_TLS_${name}`, folderOf + file]));
    expect(dropIn).toMatch(/^SupplementaryGroups=brand-records-tls-%j$/m);
    const readme = readFileSync(`${folder}/README.md`, "utf8");
    const [, named = ""] = /for process in ([\w ]+); do groupadd .*"brand-records-tls-\$process"/.exec(readme) ?? [];
    expect(named.split(" ").toSorted()).toEqual(units.map(({ process }) => process).toSorted());
    for (const { process } of units) for (const [name] of tls) expect([...settingsOf(process).keys()]).toContain(`RPC_TLS_${name}`);
  });

  it("gives each process ports of its own, and the others' addresses", () => {
    const ports = units.flatMap(({ settings }) => [...settings].filter(([name]) => name.endsWith("PORT")).map(([, port]) => port));
    expect(new Set(ports).size).toBe(12);
    const portOf = (process: string): string | undefined => {
      const settings = units.find((unit) => unit.process === process)?.settings;
      return settings?.get("RPC_PORT") ?? settings?.get("PORT");
    };
    for (const { settings } of units) {
      for (const [name, address] of settings) {
        const [, process] = /^(\w+)_ADDRESS$/.exec(name) ?? [];
        if (process !== undefined) expect(address).toBe(`127.0.0.1:${portOf(process.toLowerCase())}`);
      }
    }
  });
});

/** `Environment=` lines, and those that a comment offers. */
function assignments(unit: string): Map<string, string> {
  return new Map([...unit.matchAll(/^#?Environment=(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

const withoutFile = (name: string): string => name.replace(/_FILE$/, "");

interface ListedSetting {
  readonly isRequired: boolean;
  readonly isSecret: boolean;
}

/** Reads the page's sections that name a process. */
function settingsOf(process: string): Map<string, ListedSetting> {
  const sections = page.split(/^## /m).filter((section) => {
    const title = section.slice(0, section.indexOf("\n"));
    return title === "Every process" || title.split(/,? and |, /).includes(process);
  });
  const rows = sections.flatMap((section) => [...section.matchAll(/^\| `([A-Z_]+)` .*$/gm)]);
  return new Map(
    rows.map(([row, name = ""]) => [name, { isRequired: row.includes("**required**"), isSecret: row.includes("**secret**") }]),
  );
}
