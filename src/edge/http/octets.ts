/** Byte classes of RFC 9110 section 5.6.2 and RFC 9112 section 2.2. */
export const CR = 13;
export const LF = 10;
export const SPACE = 32;
export const TAB = 9;
export const COLON = 58;

const MARKS = "!#$%&'*+-.^_`|~";

/** 1 for the bytes of a token (method, field name). */
export const IS_TOKEN = new Uint8Array(256);
/** 1 for the bytes a line of a head may hold: visible ASCII, space, tab and the bytes above 127. */
export const IS_TEXT = new Uint8Array(256);

for (let octet = 0; octet < 256; octet++) {
  const alphanumeric = (octet >= 48 && octet <= 57) || (octet >= 65 && octet <= 90) || (octet >= 97 && octet <= 122);
  IS_TOKEN[octet] = alphanumeric || MARKS.includes(String.fromCharCode(octet)) ? 1 : 0;
  IS_TEXT[octet] = octet === TAB || (octet >= SPACE && octet !== 127) ? 1 : 0;
}

/** Value of a hexadecimal digit, -1 for any other byte. */
export function hexDigit(octet: number): number {
  if (octet >= 48 && octet <= 57) return octet - 48;
  if (octet >= 97 && octet <= 102) return octet - 87;
  if (octet >= 65 && octet <= 70) return octet - 55;
  return -1;
}
