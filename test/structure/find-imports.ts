/**
 * The specifiers of a module's imports, re-exports and dynamic imports, types included. It reads sources that prettier has
 * formatted; TypeScript 7 offers programs no such list.
 */
export function findImports(source: string): string[] {
  const statements = /^(?:import|export) (?:type )?(?:[\w$*{},\s]+?\sfrom )?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
  return [...source.matchAll(statements)].flatMap(([, stated, called]) => stated ?? called ?? []);
}
