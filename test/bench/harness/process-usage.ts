import { readdir, readFile } from "node:fs/promises";

/** The kernel counts CPU time in hundredths of a second (USER_HZ), on every architecture. */
const MS_PER_TICK = 10;
/** Fields of /proc/PID/stat, counted from the state, which follows the name in brackets. */
const PARENT = 1;
const USER_TIME = 11;
const CHILDREN_SYSTEM_TIME = 14;
const USER_TIME_END = 13;

/** Returns the CPU time of a process since its start. */
export async function cpuMs(pid: number): Promise<number> {
  return sumTicks(await readStat(pid), USER_TIME, USER_TIME_END) * MS_PER_TICK;
}

/** Returns the CPU time of a Postgres: its postmaster, open sessions and ended ones. */
export async function postgresCpuMs(postmaster: number): Promise<number> {
  const own = await readStat(postmaster);
  const ended = sumTicks(own, USER_TIME, CHILDREN_SYSTEM_TIME + 1);
  const sessions = await Promise.all((await childrenOf(postmaster)).map((pid) => cpuMs(pid).catch(() => 0)));
  return ended * MS_PER_TICK + sum(sessions);
}

/** Returns the time for which the machine's cores were busy, for any process. */
export async function machineBusyMs(): Promise<number> {
  const [, ...ticks] = ((await readFile("/proc/stat", "utf8")).split("\n")[0] ?? "").split(/\s+/).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, steal = 0] = ticks;
  return (user + nice + system + irq + softIrq + steal) * MS_PER_TICK;
}

/** Returns the resident memory of a process, in MiB. */
export async function memoryMib(pid: number): Promise<number> {
  return kibOf(await readFile(`/proc/${pid}/status`, "utf8"), "VmRSS") / 1_024;
}

/** Returns the highest resident memory since the process started, in MiB. */
export async function peakMemoryMib(pid: number): Promise<number> {
  return kibOf(await readFile(`/proc/${pid}/status`, "utf8"), "VmHWM") / 1_024;
}

/** Returns the memory of a Postgres in MiB. Counts memory shared by its processes once. */
export async function postgresMemoryMib(postmaster: number): Promise<number> {
  const pids = [postmaster, ...(await childrenOf(postmaster))];
  const parts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "")));
  return sum(parts.map((text) => kibOf(text, "Pss"))) / 1_024;
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const stats = await Promise.all(pids.map(async (pid) => ({ pid, stat: await readStat(pid).catch(() => []) })));
  return stats.filter(({ stat }) => Number(stat[PARENT]) === parent).map(({ pid }) => pid);
}

/** Splits "pid (name) state parent …" after the name, which may contain any character. */
async function readStat(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

const sumTicks = (stat: readonly string[], from: number, to: number): number => sum(stat.slice(from, to).map(Number));

const kibOf = (text: string, name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(text)?.[1] ?? 0);

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
