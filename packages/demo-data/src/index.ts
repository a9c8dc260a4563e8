export { DEMO_BRANDS, type DemoBrand, DEMO_RESOURCES, type BrandSizes, type DemoResource } from "./demo-brands.ts";
export { generateBrand, type GeneratedBrand } from "./generate-brand.ts";
export { Random } from "./random.ts";
