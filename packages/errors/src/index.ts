export { AppError, type Dependency, type ProblemDetail } from "./app-error.ts";
export { ERROR_KINDS, isErrorKind, isServerError, type ErrorKind } from "./kinds.ts";
export { othersIn, parseRequest, PROBLEMS_MAX, unknownNames } from "./problems.ts";
