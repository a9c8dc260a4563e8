import { useState, type ChangeEvent, type ReactNode } from "react";

type Errors = Readonly<Record<string, string>>;

/** The fields of a form: what is typed, and what is wrong with a field until it is edited. */
export function useFields<Values extends object>(initial: Values) {
  const [values, setValues] = useState(initial);
  const [errors, setErrors] = useState<Errors>({});
  const set = (changed: Partial<Values>): void => {
    setValues((before) => ({ ...before, ...changed }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([name]) => !(name in changed))));
  };
  /** What an input of text needs. */
  const text = (name: keyof Values & string) => ({
    value: String(values[name]),
    error: errors[name],
    onChange: ({ currentTarget: { value } }: ChangeEvent<HTMLInputElement>) => set({ [name]: value } as Partial<Values>),
  });
  return { values, errors, set, text, setValues, setErrors };
}

/** A form whose problems the service names, not the browser. */
export const Form = ({
  className,
  onSubmit,
  children,
}: {
  readonly className?: string;
  readonly children: ReactNode;
  onSubmit(): void;
}) => (
  <form
    className={className}
    noValidate
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
  </form>
);
