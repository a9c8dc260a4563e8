import { packagesIn, shippedOwn } from "./shipped-packages.js";

/**
 * Reduces npm's bill of materials of the whole repository to the image. npm names packages by their folder here; their real names are in
 * their references. Licences that packages do not declare come from `exceptions` of licences.json.
 */
export function imageSbom(sbom, lock, exceptions) {
  const shipped = new Set([
    ...packagesIn(lock).flatMap(({ name, version, isShipped }) => (isShipped ? [`${name}@${version}`] : [])),
    ...shippedOwn(lock).map((name) => `${name}@${lock.packages[""].version}`),
  ]);
  const components = sbom.components
    .map((component) => ({ ...component, name: nameIn(component["bom-ref"]) }))
    .filter(({ name, version }) => shipped.has(`${name}@${version}`))
    .map((component) => {
      const licence = exceptions[component.name]?.licence;
      return licence === undefined ? component : { ...component, licenses: [{ license: { id: licence } }] };
    });
  const product = { ...sbom.metadata.component, name: lock.packages[""].name, type: "application" };
  const references = new Set([product, ...components].map((component) => component["bom-ref"]));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => references.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => references.has(each)) }));
  return { ...sbom, metadata: { ...sbom.metadata, component: product }, components, dependencies };
}

/** `@scope/name@1.0.0` */
const nameIn = (reference) => reference.slice(0, reference.indexOf("@", 1));

/**
 * Returns what is wrong with a bill of materials: each component must have what scanners look it up by, references must lead somewhere, and
 * every package that the image contains must be listed.
 */
export function sbomProblems(sbom, lock) {
  const { name: product, version } = lock.packages[""];
  const problems = [];
  if (sbom.bomFormat !== "CycloneDX" || sbom.specVersion !== "1.5") problems.push("it is not CycloneDX 1.5");
  if (!sbom.serialNumber?.startsWith("urn:uuid:")) problems.push("it has no serial number");
  const described = sbom.metadata.component;
  if (described.name !== product || described.version !== version) problems.push(`it does not describe ${product} ${version}`);

  const own = shippedOwn(lock);
  const references = new Set([described["bom-ref"]]);
  for (const { name, version: itsVersion, purl, licenses, hashes, "bom-ref": reference } of sbom.components) {
    const label = `${name}@${itsVersion}`;
    if (references.has(reference)) problems.push(`${label}: its reference is used twice`);
    references.add(reference);
    if (!purl?.startsWith("pkg:npm/")) problems.push(`${label}: no purl`);
    if (!licenses?.length) problems.push(`${label}: no licence`);
    if (!own.includes(name) && !hashes?.length) problems.push(`${label}: no hash`);
  }
  for (const { ref, dependsOn } of sbom.dependencies) {
    for (const each of [ref, ...dependsOn]) if (!references.has(each)) problems.push(`${each}: a dependency that is no component`);
  }
  const listed = new Set(sbom.components.map((component) => `${component.name}@${component.version}`));
  const expected = packagesIn(lock).filter(({ isShipped }) => isShipped);
  for (const each of [...expected, ...own.map((name) => ({ name, version }))]) {
    if (!listed.has(`${each.name}@${each.version}`)) problems.push(`${each.name}@${each.version}: not listed`);
  }
  return problems;
}
