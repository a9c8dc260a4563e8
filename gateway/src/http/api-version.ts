/** Of what is offered at /api/v1 and to assistants. */
export const API_VERSION = "1.0.0";
