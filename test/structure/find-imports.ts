/**
 * Finds the specifiers of a module's imports, re-exports and dynamic imports, types included. It expects prettier's format;
 * TypeScript 7 has no API for it.
 */
export function findImports(source: string): string[] {
  const statements = /^(?:import|export) (?:type )?(?:[\w$*{},\s]+?\sfrom )?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;
  return [...source.matchAll(statements)].flatMap(([, declared, dynamic]) => declared ?? dynamic ?? []);
}
