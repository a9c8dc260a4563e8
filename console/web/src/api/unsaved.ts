/** Texts by the names of their fields. */
export type UnsavedTexts = Readonly<Record<string, string>>;

/**
 * What the open page has not saved, outside the page: who is removed from the brand while editing is led away from the page, and can then
 * still copy it.
 */
let unsaved: { readonly brandId: string; readonly texts: UnsavedTexts } | undefined;

/** Called whenever the page's unsaved texts change. */
export function keepUnsaved(brandId: string, texts: UnsavedTexts): void {
  unsaved = { brandId, texts };
}

/** Returns what was not saved, if it is of this brand. */
export function unsavedOf(brandId: string): UnsavedTexts {
  return unsaved?.brandId === brandId ? unsaved.texts : {};
}

/** Called before another brand or another person can see it. */
export function forgetUnsaved(): void {
  unsaved = undefined;
}
