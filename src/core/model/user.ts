/** Enough for every `sub` of OpenID Connect (Core 1.0 §2). A PostgreSQL index limits a user to less than 2704 bytes. */
const maxUserBytes = 255;

export function isUser(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxUserBytes && isStorableString(value)
  );
}

/** PostgreSQL cannot store U+0000, and UTF-8 cannot encode unpaired surrogates. */
export function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
