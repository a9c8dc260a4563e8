// Exits 0 when the process of this container is ready to work, as its probes tell: for the engine's health checks.
// It has the settings of that process.
// oxlint-disable-next-line node/no-process-env
const { ADMIN_PORT } = process.env;
const answer = await fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`, { signal: AbortSignal.timeout(4_000) });
process.stdout.write(await answer.text());
process.exitCode = answer.ok ? 0 : 1;
