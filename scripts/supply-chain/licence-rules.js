import satisfies from "spdx-satisfies";

/** Returns a line for each package whose licence is not allowed, and for each rule that nothing needs any more. */
export function licenceProblems(packages, { allowed, allowedInDevelopment, exceptions }) {
  const problems = [];
  const inDevelopment = [...allowed, ...Object.keys(allowedInDevelopment)];
  for (const { name, version, licence: declared, isShipped } of packages) {
    const licence = exceptions[name]?.licence ?? declared;
    if (isAllowed(licence, isShipped ? allowed : inDevelopment)) continue;
    const use = isShipped ? "" : ", for development";
    problems.push(`${name}@${version}${use}: ${licence === undefined ? "declares no licence" : `${licence} is not allowed`}`);
  }
  for (const [name, { licence, reason }] of Object.entries(exceptions)) {
    if (!reason || !licence) problems.push(`the exception for ${name} needs a licence and a reason`);
    const found = packages.filter((each) => each.name === name);
    if (found.length === 0) problems.push(`the exception for ${name} is not needed: no such package`);
    else if (found.every((each) => isAllowed(each.licence, allowed)))
      problems.push(`the exception for ${name} is not needed: it declares its licence`);
  }
  return problems;
}

/** Whether an SPDX expression can be fulfilled with these licences. None, and what is no expression, cannot. */
function isAllowed(expression, allowed) {
  try {
    return satisfies(expression, allowed);
  } catch {
    return false;
  }
}
