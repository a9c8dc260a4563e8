/** Whether one-time links sign people in to the console. Unless it is set, they do where no OpenID provider does. */
export const hasSignInLinks = ({
  SIGN_IN_LINKS,
  OIDC_ISSUER,
}: {
  readonly SIGN_IN_LINKS?: string | undefined;
  readonly OIDC_ISSUER?: string | undefined;
}): boolean => (SIGN_IN_LINKS ? SIGN_IN_LINKS === "true" : !OIDC_ISSUER);
