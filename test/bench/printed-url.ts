import type { ChildProcess } from 'node:child_process';

/** Resolves with the first HTTP URL that a server prints, without its final slash; `undefined` if it exits before. */
export function printedUrl(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    let printed = '';
    server.stdout?.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = /(http:\/\/\S+?)\/?\n/.exec(printed)?.[1];
      if (url !== undefined) resolve(url);
    });
    server.once('error', reject).once('exit', () => {
      resolve(undefined);
    });
  });
}
