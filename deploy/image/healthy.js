// The engine's health check: exits with 0 if the readiness probe of this container's process succeeds.
// This script runs with the settings of that process.
// oxlint-disable-next-line node/no-process-env
const { ADMIN_PORT } = process.env;
const response = await fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`, { signal: AbortSignal.timeout(4_000) });
process.stdout.write(await response.text());
process.exitCode = response.ok ? 0 : 1;
