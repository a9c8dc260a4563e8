/**
 * What a service stores and sends, as its message declares it: an absent field is null.
 *
 * `Narrow` names the fields whose values are fewer than the message's type says, such as a status.
 */
export type RowOf<Message, Narrow = object> = Readonly<
  { [Name in Exclude<keyof Message, keyof Narrow>]-?: Exclude<Message[Name], undefined> } & Narrow
>;
