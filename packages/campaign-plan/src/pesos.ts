/** Plans are asked for and answered in pesos; everything between is in centavos. Exact up to a thousand million pesos. */

export const centavosOf = (pesos: number): number => Math.round(pesos * 100);

export const pesosOf = (centavos: number): number => centavos / 100;
