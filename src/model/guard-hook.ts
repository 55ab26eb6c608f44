import { errorText } from './error-text.ts';

/**
 * Wraps a hook of the application that gets a report, so that a hook that throws, or returns a promise that rejects,
 * does not end the process. The report then goes to `fallback`, and the failure of the hook to standard error.
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
