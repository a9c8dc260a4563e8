export { AppError, type ProblemDetail } from "./app-error.ts";
export { ERROR_KINDS, isErrorKind, type ErrorKind } from "./kinds.ts";
