/** OpenID Connect Core 1.0 §2 limits `sub` to 255 ASCII characters, and PostgreSQL limits a key to 2704 bytes. */
const maxUserBytes = 255;

/** Requires 1 to 255 UTF-8 bytes without U+0000 and without unpaired surrogates. */
export function isUser(value: unknown): value is string {
  return (
    typeof value === 'string' && value !== '' && Buffer.byteLength(value) <= maxUserBytes && isStorableString(value)
  );
}

/** PostgreSQL cannot store U+0000, and UTF-8 cannot encode unpaired surrogates. */
export function isStorableString(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
