/**
 * Returns a task that writes each of the current notices once in this process. Others, and this one after a restart, write it too, with the
 * same id.
 *
 * @param idOf tells whether a notice has been written
 */
export function noteOnce<Notice>(
  readCurrent: () => Promise<readonly Notice[]>,
  idOf: (notice: Notice) => string,
  write: (notice: Notice) => void,
): () => Promise<void> {
  let noted = new Set<string>();
  return async () => {
    const current = await readCurrent();
    for (const notice of current) if (!noted.has(idOf(notice))) write(notice);
    noted = new Set(current.map(idOf));
  };
}
