/** Whether a code of Node is about a certificate that does not fit: only other settings help. */
export const isTlsFailure = (code: string): boolean => /^(ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)/.test(code);
