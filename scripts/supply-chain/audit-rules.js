/** Returns a line for each exception that is incomplete or whose time is over. `today` and `expires` are dates such as 2027-01-31. */
export function expiredExceptions(exceptions, today) {
  return exceptions.flatMap(({ advisory = "?", reason, expires }) => {
    if (!/^GHSA(-[0-9a-z]{4}){3}$/.test(advisory))
      return [`the exception for ${advisory} must name an advisory, such as GHSA-aaaa-bbbb-cccc`];
    if (!reason) return [`the exception for ${advisory} has no reason`];
    if (!/^\d{4}-\d\d-\d\d$/.test(expires ?? "")) return [`the exception for ${advisory} must have a date in expires, such as 2027-01-31`];
    return expires < today ? [`the exception for ${advisory} expired on ${expires}`] : [];
  });
}

/** Returns a line for each advisory of a report of `npm audit --json` without an exception, and for each exception without an advisory. */
export function auditProblems(report, exceptions) {
  const advisories = new Map();
  for (const { via } of Object.values(report.vulnerabilities)) {
    // A text names another vulnerable package, which has its own entry.
    for (const each of via.filter((cause) => typeof cause === "object"))
      advisories.set(each.url.slice(each.url.lastIndexOf("/") + 1), each);
  }
  const excepted = new Set(exceptions.map(({ advisory }) => advisory));
  const found = [...advisories].filter(([id]) => !excepted.has(id));
  return [
    ...found.map(([, { name, range, severity, title, url }]) => `${name} ${range}: ${severity}: ${title} (${url})`),
    ...[...excepted].filter((id) => !advisories.has(id)).map((id) => `the exception for ${id} is not needed: nothing has this advisory`),
  ];
}

/** Whether a report is about the service, which gave no advisories. Problems of the tree, such as a missing lock, have a code. */
export const isUnreachable = ({ message, error }) => typeof message === "string" && error !== undefined && error.code === undefined;
