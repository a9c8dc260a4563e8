/** White space, control and format characters (zero-width and bidirectional among them), fillers and the empty Braille cell. */
const VISIBLE = /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** C0, DEL and C1: line breaks, tabs, and what terminals obey. */
const CONTROL = /\p{Cc}/u;

/** Whether a reader sees anything of it. */
export const isVisible = (text: string): boolean => VISIBLE.test(text);

export const hasControlCharacters = (text: string): boolean => CONTROL.test(text);
