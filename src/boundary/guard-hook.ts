import { errorText } from './error-text.ts';

/** Wraps a reporting hook, such as `onError`, so that an error in the hook is printed and does not end the process. */
export function guardHook<Report extends unknown[]>(
  name: string,
  hook: (...report: Report) => unknown,
  fallback: (...report: Report) => void,
): (...report: Report) => void {
  return (...report) => {
    const onFailure = (error: unknown): void => {
      console.error(`${name} failed: ${errorText(error)}`);
      fallback(...report);
    };
    try {
      const result = hook(...report);
      if (result instanceof Promise) result.catch(onFailure);
    } catch (error) {
      onFailure(error);
    }
  };
}
