/* Each word typed stands somewhere in the name. */
export function matches(typed: string, name: string): boolean {
  const text = name.toLowerCase();
  return typed.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}
