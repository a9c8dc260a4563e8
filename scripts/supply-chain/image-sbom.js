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
