/** Texts by the names of their fields. */
export type UnsavedTexts = Readonly<Record<string, string>>;

let kept: { readonly brandId: string; readonly texts: UnsavedTexts } | undefined;

/** Keeps what a page has not saved, beyond the page: a person who is removed from the brand is led away from it. */
export function keepUnsaved(brandId: string, texts: UnsavedTexts): void {
  kept = { brandId, texts };
}

export const unsavedOf = (brandId: string): UnsavedTexts => (kept?.brandId === brandId ? kept.texts : {});

/** Such as before another person signs in. */
export function forgetUnsaved(): void {
  kept = undefined;
}
