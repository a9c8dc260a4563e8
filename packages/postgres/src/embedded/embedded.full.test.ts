import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { deleteEmbeddedData, embeddedDataDir, startEmbeddedPostgres, type EmbeddedPostgres } from "./index.ts";

const PASSWORD = "violet: 100% & more/@";
const COMPILED = join(import.meta.dirname, "../../dist/embedded/index.js");

/** The parent of all directories of these tests. Most tests share `dataDir`, which is initialized once. */
let folder: string;
let dataDir: string;
const running: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];

async function start({
  in: directory = dataDir,
  ...options
}: { in?: string; port?: number; password?: string } = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir: directory, password: PASSWORD, settings: { fsync: "off" }, ...options });
  running.push(server);
  return server;
}

beforeAll(async () => {
  // The next run finds the leftovers of a killed one by this name.
  folder = await mkdtemp(join(tmpdir(), `brand-records-test-${process.pid}-`));
  await chmod(folder, 0o755); // For root, Postgres runs as another user.
  dataDir = join(folder, "postgres");
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of running.splice(0)) await server.stop();
});

afterAll(async () => {
  await deleteEmbeddedData(dataDir);
  await rm(folder, { recursive: true });
});

describe("startEmbeddedPostgres", () => {
  it("keeps the data over a stop and a start, on the requested port", async () => {
    const first = await start();
    await query(first, "create table kept (name text); insert into kept values ('violet')");
    await first.stop();
    await first.exited;
    const second = await start({ port: first.port });
    expect(second.port).toBe(first.port);
    expect(await query(second, "select name from kept")).toEqual([{ name: "violet" }]);
  });

  it("listens on loopback only, in UTF-8, locale C and UTC, with hashed passwords", async () => {
    const server = await start();
    const settings = "listen_addresses unix_socket_directories server_encoding lc_messages TimeZone password_encryption".split(" ");
    const shown = await query(server, `select ${settings.map((name) => `current_setting('${name}') as "${name}"`).join(", ")}`);
    expect(shown).toEqual([
      {
        listen_addresses: "127.0.0.1",
        unix_socket_directories: "",
        server_encoding: "UTF8",
        lc_messages: "C",
        TimeZone: "UTC",
        password_encryption: "scram-sha-256",
      },
    ]);
    expect(await query(server, "select distinct auth_method from pg_hba_file_rules")).toEqual([{ auth_method: "scram-sha-256" }]);
  });

  it("requires the password from every client, even its owner", async () => {
    const server = await start();
    const wrong = { ...server, url: server.url.replace(/:[^:@]*@/, ":wrong@") };
    await expect(query(wrong, "select 1")).rejects.toMatchObject({ code: "28P01" });
    await server.stop();
    await expect(start({ password: "wrong" })).rejects.toThrow(/another user or password.*npm run reset/);
    await start(); // The server was stopped, so it can start again.
  });

  it("reports that the requested port is taken", async () => {
    const taken = createServer();
    await once(taken.listen(0, "127.0.0.1"), "listening");
    const { port } = taken.address() as AddressInfo;
    await expect(start({ port })).rejects.toThrow(`port ${port} is taken`);
    await new Promise((resolve) => taken.close(resolve));
    await start({ port });
  });

  it("refuses data that a live process uses", async () => {
    const server = await start();
    await expect(start()).rejects.toThrow(`in use by process ${process.pid}`);
    expect(await query(server, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("refuses data of another major version, and a folder that is not a data directory", async () => {
    const other = join(folder, "other");
    await mkdir(other);
    await writeFile(join(other, "PG_VERSION"), "17\n");
    await expect(start({ in: other })).rejects.toThrow(/other holds data of Postgres 17, this is Postgres 18.*npm run reset/);
    await rm(join(other, "PG_VERSION"));
    await writeFile(join(other, "thesis.txt"), "ours");
    await expect(start({ in: other })).rejects.toThrow(/other is not a Postgres data directory.*npm run reset/);
    expect(await readFile(join(other, "thesis.txt"), "utf8")).toBe("ours");
  });

  it("names the directory and the remedy if the data are broken", async () => {
    await (await start()).stop();
    await rename(join(dataDir, "global/pg_control"), join(folder, "pg_control"));
    await expect(start()).rejects.toThrow(new RegExp(`could not start in ${dataDir}: .*npm run reset.*pg_control`, "s"));
    await rename(join(folder, "pg_control"), join(dataDir, "global/pg_control"));
  });
});

describe("after a process was killed", () => {
  it("stops the server that it left, and keeps the committed data", async () => {
    const starter = await startInAnotherProcess();
    await query(starter, "create table colors (name text); insert into colors values ('violet')");
    await kill(starter.process);
    expect(await query(starter, "select 1 as one")).toEqual([{ one: 1 }]);
    const server = await start();
    await expect(query(starter, "select 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    expect(await query(server, "select name from colors")).toEqual([{ name: "violet" }]);
  });

  it("starts after the server was killed too, while its sessions still hold memory", async () => {
    const first = await start();
    const session = new pg.Client({ connectionString: first.url });
    session.on("error", () => {});
    await session.connect();
    process.kill(await postmasterPid(), "SIGKILL");
    await first.exited;
    const second = await start();
    expect(await query(second, "select 1 as one")).toEqual([{ one: 1 }]);
  });

  it("leaves alone another process that has the server's id now", async () => {
    await (await start()).stop();
    const bystander = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    children.push(bystander);
    await writeFile(join(dataDir, "postmaster.pid"), `${bystander.pid}\n${dataDir}\n`);
    const server = await start();
    expect(await query(server, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(bystander.signalCode).toBeNull();
  });

  it("ignores the result of an interrupted initdb", async () => {
    const parent = join(folder, "cut-short");
    const fresh = join(parent, "data");
    await mkdir(parent);
    const starter = spawnStarter(fresh);
    while ((await readdir(parent)).length === 0) await pause(5);
    await kill(starter);
    expect(await readdir(parent)).toEqual([expect.stringMatching(/^data\.initdb-/)]);
    const server = await start({ in: fresh });
    expect(await query(server, "select 1 as one")).toEqual([{ one: 1 }]);
    expect(await readdir(parent)).toEqual(["data"]);
  });
});

describe("embeddedDataDir", () => {
  const root = process.getuid?.() === 0;

  it("is the requested directory, if the server's user can reach it", () => {
    expect(embeddedDataDir(dataDir)).toBe(dataDir);
  });

  it("of a folder of mode 0700 lies elsewhere for root, in place for other users, and is found and deleted there", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    const requested = join(home, "data");
    const elsewhere = embeddedDataDir(requested);
    expect(/^\/var\/lib\/brand-records-[0-9a-f]{12}$/.test(elsewhere)).toBe(root);
    const first = await start({ in: requested });
    await query(first, "create table kept (name text)");
    await first.stop();
    const second = await start({ in: requested });
    expect(await query(second, "select * from kept")).toEqual([]);
    expect(await readdir(home)).toEqual(root ? [] : ["data"]);
    await second.stop();
    await deleteEmbeddedData(requested);
    await expect(readdir(elsewhere)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

async function query({ url }: { readonly url: string }, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

/** Runs the compiled code, as the launcher does. */
function spawnStarter(directory: string): ChildProcess {
  const code = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(COMPILED)});
    const options = ${JSON.stringify({ dataDir: directory, password: PASSWORD, settings: { fsync: "off" } })};
    const { url } = await startEmbeddedPostgres(options);
    process.stdout.write(url);`;
  const starter = spawn(process.execPath, ["--input-type=module", "--eval", code], { stdio: ["ignore", "pipe", "inherit"] });
  children.push(starter);
  return starter;
}

async function startInAnotherProcess(): Promise<{ process: ChildProcess; url: string }> {
  const starter = spawnStarter(dataDir);
  const [url] = (await once(starter.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
  return { process: starter, url: url.toString() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function postmasterPid(): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, "postmaster.pid"), "utf8"), 10);
}
