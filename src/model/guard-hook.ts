import { errorText } from './error-text.ts';

/**
 * Wraps the application's reporting hook, so that the process survives if the hook throws or its promise rejects. In
 * that case the hook's error is written to standard error, and the report is passed to `fallback`.
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
