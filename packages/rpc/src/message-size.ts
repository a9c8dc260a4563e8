/** Of one gRPC message, either way. */
export const MESSAGE_BYTES_MAX = 8 * 1024 * 1024;
