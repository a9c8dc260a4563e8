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

/**
 * Whether an SPDX expression can be fulfilled with these licences: one side of OR suffices, AND needs both. What is no
 * expression is not allowed, nor is `WITH`, whose exceptions may be anything.
 */
export function isAllowed(expression, allowed) {
  if (typeof expression !== "string") return false;
  const words = expression.match(/[()]|[^\s()]+/g) ?? [];
  let at = 0;
  const take = (word) => words[at] === word && (at += 1) > 0;
  const operand = () => {
    if (!take("(")) return allowed.includes(words[at++]);
    const inner = alternatives();
    return take(")") && inner;
  };
  const joined = () => {
    let all = operand();
    while (take("AND")) all = operand() && all;
    return all;
  };
  const alternatives = () => {
    let any = joined();
    while (take("OR")) any = joined() || any;
    return any;
  };
  const result = alternatives();
  return result && at === words.length;
}
