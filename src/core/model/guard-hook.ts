import { errorText } from './error-text.ts';

/**
 * Wraps a reporting hook of the application, such as `onError`, so that a failure of the hook does not end the process.
 * If the hook throws or its promise rejects, its error is printed to standard error, and `fallback` is called with the
 * same arguments as the hook.
 */
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
