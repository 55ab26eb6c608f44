import { cpus } from 'node:os';

export function describeMachine(): string {
  const [cpu] = cpus();
  const model = cpu?.model.trim() ?? 'unknown CPU';
  return `Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} × ${model}`;
}

/** Formats rows as a Markdown table. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
