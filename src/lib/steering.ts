/**
 * What a text must not do to a terminal: controls (line breaks and tabs stay), the characters that turn the direction of what
 * follows, and the separators that some terminals take for line breaks.
 */
export const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** Sequences of a terminal: colours, movements of the cursor, titles with their text. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])?/g;

export function withoutSequences(text: string): string {
  return text.replace(SEQUENCES, '');
}

/** Words of others, made harmless wherever they are shown. */
export function withoutSteering(text: string): string {
  return withoutSequences(text).replace(STEERING, '');
}
