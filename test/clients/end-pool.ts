import type { Pool } from "pg";

/**
 * Ends a pool, and waits until its connections are closed, which `pool.end` does not: dropping their database would end one with an error that
 * no listener handles.
 */
export async function endPool(pool: Pool): Promise<void> {
  let open = pool.totalCount;
  const closed = new Promise<void>((resolve) => {
    if (open === 0) resolve();
    pool.on("remove", () => (open -= 1) === 0 && resolve());
  });
  await pool.end();
  await closed;
}
