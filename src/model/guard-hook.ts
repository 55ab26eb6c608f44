import { errorText } from './error-text.ts';

/**
 * Wraps a reporting hook of the application, so that the process survives if the hook throws or its promise rejects.
 * Then `fallback` receives the report, and standard error the error of the hook.
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
