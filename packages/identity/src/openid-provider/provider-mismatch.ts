/** The provider's configuration names another issuer than OIDC_ISSUER. */
export class ProviderMismatch extends Error {
  override readonly name = "ProviderMismatch";
  readonly issuer: string;

  constructor(issuer: string) {
    super("the provider names another issuer than OIDC_ISSUER");
    this.issuer = issuer;
  }
}
