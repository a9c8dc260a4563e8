import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";

/** One promise: the Compose file of the tools fits docker-compose.yml and the files of this repository. Nothing here runs it. */

interface ComposeService {
  readonly image?: string;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: object;
  readonly volumes: object;
}

const read = (path: string): ComposeFile => parse(readFileSync(path, "utf8"), { merge: true }) as ComposeFile;
const base = read("docker-compose.yml");
const tools = read("deploy/observability/compose.yaml");
const added = Object.entries(tools.services).filter(([name]) => !(name in base.services));

it("sends the traces of every process", () => {
  const processes = Object.entries(base.services).filter(([, { environment = {} }]) => "ADMIN_HOST" in environment);
  const traced = Object.entries(tools.services).filter(([, { environment = {} }]) => "OTEL_EXPORTER_OTLP_ENDPOINT" in environment);
  expect(traced.map(([name]) => name).toSorted()).toEqual(processes.map(([name]) => name).toSorted());
  expect(traced.every(([, { image }]) => image === undefined)).toBe(true);
});

it("adds tools with pinned images, existing files, networks of the system, and ports of this machine only", () => {
  expect(added.map(([name]) => name)).toEqual(["prometheus", "alertmanager", "grafana", "tempo"]);
  for (const [name, { image = "", volumes = [], ports = [], networks = [] }] of added) {
    expect([name, image]).toEqual([name, expect.stringMatching(/:v?\d+\.\d+\.\d+$/)]);
    expect(Object.keys(base.networks ?? {})).toEqual(expect.arrayContaining([...networks]));
    for (const [source = ""] of volumes.map((volume) => volume.split(":"))) {
      expect([source, source.startsWith("./") ? existsSync(source) : source in tools.volumes]).toEqual([source, true]);
    }
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

it("scrapes every process, with the interval and the labels that the rules expect", () => {
  const prometheus = parse(readFileSync("deploy/observability/prometheus.yml", "utf8"));
  const [job] = prometheus.scrape_configs;
  expect(job).toMatchObject({ job_name: "brand-records", honor_labels: true });
  const targets = Object.fromEntries(
    job.static_configs.map((each: { targets: string[]; labels: { service: string } }) => [each.labels.service, each.targets]),
  );
  const processes = Object.keys(base.services).filter((name) => "ADMIN_HOST" in (base.services[name]?.environment ?? {}));
  expect(targets).toEqual(Object.fromEntries(processes.map((name) => [name, [`${name}:9090`]])));
  expect(prometheus.global).toEqual({ scrape_interval: "15s", scrape_timeout: "10s", evaluation_interval: "15s" });
});

it("Grafana reads dashboards and data sources that exist", () => {
  const [provider] = parse(readFileSync("deploy/observability/grafana/dashboards.yml", "utf8")).providers;
  expect(tools.services["grafana"]?.volumes).toContain(`./deploy/observability/dashboards:${provider.options.path}:ro`);
  const { datasources } = parse(readFileSync("deploy/observability/grafana/datasources.yml", "utf8"));
  const hosts = datasources.map(({ url }: { url: string }) => new URL(url).hostname);
  expect(Object.keys(tools.services)).toEqual(expect.arrayContaining(hosts));
});
