/**
 * Captures the strings that are written to a stream. node:test writes its reports as bytes, so they are not captured.
 */
export function captureStream(stream: NodeJS.WriteStream): { text: () => string; release: () => void } {
  const listeners = stream.listeners('error');
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let text = '';
  stream.write = (chunk: unknown, ...args: unknown[]): boolean => {
    if (typeof chunk !== 'string') return write(chunk, ...args);
    text += chunk;
    const callback = args.at(-1) as (() => void) | undefined;
    callback?.();
    return true;
  };
  return {
    text: () => text,
    release: () => {
      stream.write = write;
      for (const added of stream.listeners('error').filter((one) => !listeners.includes(one))) {
        stream.off('error', added as () => void);
      }
    },
  };
}
