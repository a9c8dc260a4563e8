const CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/** A text to read, with the characters that turn the direction of what follows them written out: they could make it read as another text. */
export const visibleControls = (text: string): string =>
  text.replace(CONTROLS, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase()}]`);
